// Computes and caches the reference's outputs. A cached output is a .npy file named by its position
// in the model: the folder is human-readable and can be deleted at any time.
#include "tools/bench/expected.h"

#include <fmt/format.h>

#include "core/files.h"
#include "core/npy.h"

namespace touchstone::bench {
namespace {

namespace fs = std::filesystem;

// FNV-1a: the input is not adversarial.
void mix(std::uint64_t& key, std::string_view bytes) {
  for (const char byte : bytes) key = (key ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
}

std::string text_of(const fs::path& file) { return open_trusted(file).read_all(Limits::trusted()); }

std::string key_of(const std::string& model, const std::vector<NamedFile>& inputs) {
  std::uint64_t key = 0xcbf29ce484222325;
  mix(key, TOUCHSTONE_VERSION);
  mix(key, model);
  for (const NamedFile& one : inputs) {
    mix(key, one.name);
    mix(key, text_of(one.file));
  }
  return fmt::format("{:016x}", key);
}

fs::path file_of(const fs::path& folder, std::size_t position) {
  return folder / fmt::format("output_{}.npy", position);
}

std::optional<Outputs> kept(const std::vector<ValueInfo>& outputs, const fs::path& folder) {
  Outputs values;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (!fs::exists(file_of(folder, k))) return std::nullopt;
    const std::string bytes = text_of(file_of(folder, k));
    values[outputs[k].name] =
        parse_npy(std::as_bytes(std::span(bytes)), Type::undefined, Limits::trusted());
  }
  return values;
}

void keep(const std::vector<ValueInfo>& outputs, const Outputs& values, const fs::path& folder) {
  fs::create_directories(folder);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    write_atomically(file_of(folder, k), serialize_npy(values.at(outputs[k].name).tensor()));
  }
}

}  // namespace

std::vector<Outputs> expectations(const BenchmarkRun& benchmark, const BenchPlan& plan,
                                  const std::string& self, const fs::path& folder) {
  const std::string model = folder.empty() ? "" : text_of(benchmark.model);
  std::vector<std::vector<NamedFile>> sets = benchmark.input_sets;
  sets.push_back(benchmark.moved);
  std::vector<fs::path> places(sets.size());
  std::vector<Outputs> expected(sets.size());
  std::vector<std::pair<std::size_t, RuntimeProcess>> running;
  for (std::size_t k = 0; k < sets.size(); ++k) {
    if (!folder.empty()) {
      places[k] = folder / key_of(model, sets[k]);
      if (std::optional<Outputs> found = kept(benchmark.outputs, places[k])) {
        expected[k] = std::move(*found);
        continue;
      }
    }
    RuntimeProcess process("reference", start_of("reference", self), plan.limit);
    process.open({benchmark.model.string(), 1, benchmark.dims, {sets[k]}});
    process.begin({0});
    running.emplace_back(k, std::move(process));
  }
  for (auto& [k, process] : running) {
    process.end();
    expected[k] = process.show(0, benchmark.scratch / "expected");
    process.close();
    if (!folder.empty()) keep(benchmark.outputs, expected[k], places[k]);
  }
  return expected;
}

}  // namespace touchstone::bench
