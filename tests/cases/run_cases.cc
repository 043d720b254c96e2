// Runs every case below a folder on the reference in one process: starting the command for each of
// thousands of small models would dominate the time. Prints one JSON line a case: its error, or the
// types and shapes of its outputs.
//
//   run_cases FOLDER
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/error.h"
#include "model/model.h"
#include "reference/interpreter.h"
#include "reference/shapes/proved_shapes.h"
#include "reference/shapes/shapes.h"
#include "tools/touchstone/command.h"
#include "tools/touchstone/feeds.h"

namespace touchstone {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// Runs shape inference under the sanitizers and gcov, too: with sizes, with types alone, and with
// neither.
void infer_all(const Model& model, const Limits& limits) {
  infer_shapes(model, limits);
  prove_shapes(model, {}, limits);
  Model untyped = model;
  for (ValueInfo& input : untyped.graph.inputs) input.type.reset();
  prove_shapes(untyped, {}, limits);
}

Json outputs_of(const fs::path& folder) {
  const Limits limits = Limits::trusted();
  const Model model = load_valid(folder / "model.onnx", limits);
  infer_all(model, limits);
  command::FeedArgs feeds;
  feeds.test_data = (folder / "test_data_set_0").string();
  const std::map<std::string, Value> made =
      run(model, command::feeds_for(model, feeds, limits), RunOptions{limits, {}});
  Json all = Json::array();
  for (const ValueInfo& output : model.graph.outputs) {
    const Value& value = made.at(output.name);
    Json row{{"type", text(value.type())}};
    if (value.is_tensor())
      row["shape"] =
          std::vector<Index>(value.tensor().shape().begin(), value.tensor().shape().end());
    all.push_back(std::move(row));
  }
  return all;
}

void run_case(const fs::path& folder, const std::string& name) {
  Json line{{"case", name}};
  try {
    line["outputs"] = outputs_of(folder);
  } catch (const Error& error) {
    line["exit"] = static_cast<int>(command::exit_code(error.kind));
    line["rule"] = error.rule;
    line["message"] = error.message;
  }
  fmt::print("{}\n", line.dump(-1, ' ', false, Json::error_handler_t::replace));
  std::fflush(stdout);  // keeps the finished lines if the next case crashes
}

}  // namespace
}  // namespace touchstone

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path root = argv[1];
  std::vector<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().filename() == "model.onnx") folders.push_back(entry.path().parent_path());
  }
  std::sort(folders.begin(), folders.end());
  for (const auto& folder : folders)
    touchstone::run_case(folder, folder.lexically_relative(root).string());
  return 0;
}
