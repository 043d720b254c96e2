// Runs mutants of models and of spec lines on the reference and on the fast executor, each with a
// twin that declares wrong shapes. Reports those that crash, take too long, end with an internal
// error or end differently. The number of a mutant alone reproduces it.
//
//   mutation_driver --source models|lines --first N --count N [--folder F]... [--seconds S]
//   [--batch N] [--show] [--save FOLDER]
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/files.h"
#include "fuzz/batches.h"
#include "model/model.h"
#include "tests/mutation/verdict.h"

namespace {

using touchstone::Error;
using touchstone::ErrorKind;
using touchstone::Index;
namespace mutation = touchstone::mutation;

struct Arguments {
  std::string source = "models";
  std::vector<std::filesystem::path> folders;
  Index first = 0, count = 100;
  bool show = false;           // prints each mutant and how it ends
  std::filesystem::path save;  // "": saves nothing
  touchstone::fuzz::BatchOptions batches;
};

Arguments arguments_of(int count, char** words) {
  Arguments made;
  for (int k = 1; k < count; ++k) {
    const std::string word = words[k];
    if (word == "--show") {
      made.show = true;
      continue;
    }
    if (++k >= count) throw Error(ErrorKind::usage, word + " has no value");
    const std::string value = words[k];
    if (word == "--source") {
      made.source = value;
    } else if (word == "--folder") {
      made.folders.emplace_back(value);
    } else if (word == "--first") {
      made.first = std::stoll(value);
    } else if (word == "--count") {
      made.count = std::stoll(value);
    } else if (word == "--save") {
      made.save = value;
    } else if (word == "--batch") {
      made.batches.batch = std::stoll(value);
    } else if (word == "--seconds") {
      made.batches.seconds = static_cast<unsigned>(std::stoul(value));
    } else {
      throw Error(ErrorKind::usage, "no option is " + word);
    }
  }
  if (made.folders.empty()) throw Error(ErrorKind::usage, "--folder says where mutants come from");
  return made;
}

std::unique_ptr<mutation::Source> source_of(const Arguments& arguments) {
  if (arguments.source == "models")
    return std::make_unique<mutation::ModelSource>(arguments.folders);
  if (arguments.source == "lines")
    return std::make_unique<mutation::LineSource>(arguments.folders.front());
  throw Error(ErrorKind::usage, "--source is models or lines");
}

// "3 ran, 1 limit\ndescription of a fault"
std::string try_one(const mutation::Source& source, Index number) {
  std::map<std::string, Index> counts;
  std::string what, wrong;
  try {
    const touchstone::LimitsScope scope(mutation::limits());
    const mutation::Subject subject = source.make(number);
    what = subject.what;
    mutation::Random random = mutation::twin_random(number);
    wrong = mutation::wrong_about(subject, random, counts);
  } catch (const Error& error) {
    ++counts["no mutant"];
    what += error.message;
  }
  std::string text;
  for (const auto& [name, times] : counts) text += name + "\t" + std::to_string(times) + "\t";
  return text + "\n" + what + "\n" + wrong;
}

// Describes a mutant that ended its process.
std::string what_is(const mutation::Source& source, Index number) {
  const touchstone::LimitsScope scope(mutation::limits());
  try {
    return source.make(number).what;
  } catch (const Error& error) {
    return error.message;
  }
}

// Writes FOLDER/N.onnx and N_twin.onnx, and the feeds as N_NAME.pb.
void save(const mutation::Source& source, Index number, const std::filesystem::path& folder) {
  const touchstone::LimitsScope scope(mutation::limits());
  const mutation::Subject subject = source.make(number);
  const std::string stem = (folder / std::to_string(number)).string();
  std::filesystem::create_directories(folder);
  touchstone::save_model(mutation::without_shapes(subject.model), stem + ".onnx");
  mutation::Random random = mutation::twin_random(number);
  touchstone::save_model(mutation::twin_of(subject, random), stem + "_twin.onnx");
  for (const auto& [name, value] : subject.feeds) {
    touchstone::write_atomically(stem + "_" + name + ".pb",
                                 std::string_view(touchstone::serialize_value(value)));
  }
}

int run(const Arguments& arguments) {
  const std::unique_ptr<mutation::Source> source = source_of(arguments);
  std::map<std::string, Index> counts;
  Index wrong = 0;
  const auto report = [&](Index number, const std::string& what, const std::string& text) {
    ++wrong;
    std::printf("%s %lld: %s\n  %s\n", arguments.source.c_str(), static_cast<long long>(number),
                what.c_str(), text.c_str());
    if (!arguments.save.empty()) save(*source, number, arguments.save);
    std::fflush(stdout);
  };
  const auto on_end = [&](const touchstone::fuzz::Ended& ended) {
    const Index number = ended.number;
    const std::string& text = ended.text;
    if (!ended.died.empty()) {
      ++counts["died"];
      return report(number, what_is(*source, number), ended.died);
    }
    const std::size_t tallies = text.find('\n'), told = text.find('\n', tallies + 1);
    for (std::size_t at = 0; at < tallies;) {
      const std::size_t tab = text.find('\t', at), next = text.find('\t', tab + 1);
      counts[text.substr(at, tab - at)] += std::stoll(text.substr(tab + 1, next - tab - 1));
      at = next + 1;
    }
    const std::string what = text.substr(tallies + 1, told - tallies - 1);
    if (arguments.show) {
      std::printf("%lld: %s -> %s\n", static_cast<long long>(number), what.c_str(),
                  text.substr(0, tallies).c_str());
    }
    if (told + 1 < text.size()) report(number, what, text.substr(told + 1));
  };
  touchstone::fuzz::in_batches(
      arguments.first, arguments.count, arguments.batches,
      [&](Index number, const touchstone::fuzz::Enter&) { return try_one(*source, number); },
      on_end);
  std::printf("%lld mutants of %s:", static_cast<long long>(arguments.count),
              arguments.source.c_str());
  for (const auto& [name, times] : counts)
    std::printf(" %lld %s;", static_cast<long long>(times), name.c_str());
  std::printf(" %lld wrong\n", static_cast<long long>(wrong));
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  try {
    return run(arguments_of(count, words));
  } catch (const Error& error) {
    std::fprintf(stderr, "mutation_driver: %s\n", error.message.c_str());
    return 64;
  }
}
