// Writes a region as a case. The case in the standard's layout holds the right outputs, so the
// target's outputs are stored in a folder of their own.
#include "conformance/compare/replay.h"

#include "conformance/compare/rewrite.h"
#include "core/error.h"
#include "core/files.h"
#include "model/model.h"
#include "reference/interpreter.h"

namespace touchstone::compare {
namespace {

namespace fs = std::filesystem;
using Values = std::map<std::string, Value>;

void write_data(const Model& part, const Values& values, const fs::path& folder) {
  fs::create_directories(folder);
  const auto write = [&](const std::vector<ValueInfo>& infos, const std::string& side) {
    std::size_t position = 0;
    for (const ValueInfo& info : infos) {
      const auto value = values.find(info.name);
      if (value == values.end() || value->second.absent()) return;
      const std::string file = side + "_" + std::to_string(position++) + ".pb";
      write_atomically(folder / file, serialize_value(value->second));
    }
  };
  write(part.graph.inputs, "input");
  write(part.graph.outputs, "output");
}

}  // namespace

Replay write_replay(const Model& model, const std::set<Index>& nodes, const Values& values,
                    const fs::path& folder) {
  Model part = cut_out(model, nodes, values);
  Replay made{folder / "model.onnx", folder / "seen", false};
  fs::create_directories(folder);
  save_model(part, made.model);
  write_data(part, values, made.seen);
  Values feeds;
  for (const ValueInfo& input : part.graph.inputs) {
    if (const auto value = values.find(input.name); value != values.end()) feeds.insert(*value);
  }
  Values right;
  try {
    resolve(part);
    right = run(part, feeds, RunOptions{Limits::trusted(), {}});
  } catch (const Error& error) {
    if (error.kind == ErrorKind::internal) throw;
    return made;
  }
  right.insert(feeds.begin(), feeds.end());
  write_data(part, right, folder / "test_data_set_0");
  made.expects = true;
  return made;
}

}  // namespace touchstone::compare
