// Replays the kept inputs of every target: those that libFuzzer found to reach code of their own
// (fuzz/corpus), and those that were faults once (fuzz/found).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <vector>

#include "core/files.h"
#include "core/tensor.h"
#include "fuzz/bytes/message_edit.h"
#include "fuzz/bytes/target.h"

namespace touchstone::bytes {
namespace {

namespace fs = std::filesystem;

struct Target {
  const char* name;
  void (*read)(Bytes input);
};
constexpr Target targets[] = {
    {"external", external}, {"fast", fast},     {"images", images}, {"lines", lines},
    {"messages", messages}, {"model", model},   {"npy", npy},       {"reference", reference},
    {"types", types},       {"values", values},
};

fs::path source() {
  const char* folder = std::getenv("TOUCHSTONE_SOURCE");
  return folder ? folder : ".";
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  if (!fs::exists(folder)) return files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::string bytes_in(const fs::path& file) {
  return open_trusted(file).read_all(Limits::trusted());
}

// `name` is printed first: a death would leave no other trace of the input.
void replay(const Target& target, const std::string& name, const std::string& bytes) {
  std::printf("%s\n", name.c_str());
  std::fflush(stdout);
  try {
    target.read(std::as_bytes(std::span(bytes)));
  } catch (const std::exception& fault) {
    ADD_FAILURE() << name << ": " << fault.what();
  }
}

// Returns the text with a few bytes replaced, removed or repeated.
std::string changed(std::string_view text, std::minstd_rand& random) {
  std::string made(text);
  const auto below = [&](std::size_t count) { return random() % count; };
  for (std::size_t k = 0; k <= below(3); ++k) {
    if (made.empty() || below(4) == 0)
      made.insert(below(made.size() + 1), 1, static_cast<char>(below(256)));
    else if (below(3) == 0)
      made.erase(below(made.size()), 1 + below(4));
    else if (below(2) == 0)
      made.insert(below(made.size()), made.substr(below(made.size()), 1 + below(8)));
    else
      made[below(made.size())] = static_cast<char>(below(256));
  }
  return made;
}

// The number of edits of each input: TOUCHSTONE_EDITS, or few.
std::uint32_t edits() {
  const char* count = std::getenv("TOUCHSTONE_EDITS");
  return count ? static_cast<std::uint32_t>(std::stoul(count)) : 1;
}

class Replay : public ::testing::TestWithParam<Target> {};

TEST_P(Replay, KeptInputsAreReadOrRefused) {
  const std::vector<fs::path> corpus = files_in(source() / "fuzz/corpus" / GetParam().name);
  EXPECT_FALSE(corpus.empty());
  for (const fs::path& file : corpus) replay(GetParam(), file.string(), bytes_in(file));
}

TEST_P(Replay, FaultsStayMended) {
  for (const fs::path& file : files_in(source() / "fuzz/found" / GetParam().name))
    replay(GetParam(), file.string(), bytes_in(file));
}

TEST_P(Replay, EditsOfKeptInputsAreReadOrRefused) {
  for (const fs::path& file : files_in(source() / "fuzz/corpus" / GetParam().name)) {
    const std::string bytes = bytes_in(file);
    for (std::uint32_t seed = 1; seed <= edits(); ++seed) {
      std::minstd_rand random(seed);
      const auto change = [&](std::string_view text) { return changed(text, random); };
      std::string edited = bytes;
      for (std::uint32_t k = 0; k <= seed % 3; ++k)
        edited = edited_message(edited, seed + k, change);
      replay(GetParam(), file.string() + " edited with " + std::to_string(seed), edited);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Replay, ::testing::ValuesIn(targets),
                         [](const auto& target) { return std::string(target.param.name); });

TEST(Inputs, EveryFolderIsOfATarget) {
  for (const char* kept : {"fuzz/corpus", "fuzz/found"}) {
    for (const fs::path& folder : files_in(source() / kept)) {
      EXPECT_TRUE(std::any_of(std::begin(targets), std::end(targets), [&](const Target& target) {
        return folder.filename() == target.name;
      })) << folder;
    }
  }
}

TEST(Inputs, AnInternalErrorIsAFault) {
  EXPECT_THROW(accepts([] { BUG("planted"); }), Fault);
  EXPECT_FALSE(accepts([] { throw Error(ErrorKind::invalid_model, "refused"); }));
  EXPECT_TRUE(accepts([] {}));
}

TEST(Inputs, AnInputEndsAtItsLimits) {
  EXPECT_FALSE(accepts([] { charge_work(2 * limits_of_input().work); }));
  EXPECT_FALSE(accepts([] { Tensor(Type::uint8, Shape{limits_of_input().elements + 1}); }));
}

}  // namespace
}  // namespace touchstone::bytes
