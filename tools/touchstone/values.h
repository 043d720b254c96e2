// Formats values for output, and writes them to files: outputs, and the taps of every node.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/json.h"
#include "model/graph.h"
#include "reference/interpreter.h"

namespace touchstone::command {

std::string shown_element(const Tensor& tensor, Index at);
std::string first_values(const Value& value, Index most = 8);
std::string type_text(const Value& value);      // "tensor(float) [2,3]"
std::string dims_text(const ValueInfo& value);  // "[batch,3,?]", "" without a declared rank
nlohmann::ordered_json to_json(const Value& value, Index most = 8);

// Writes output_0.pb ... in the standard's layout, and output_0.npy for each tensor.
void write_outputs(const Model& model, const std::map<std::string, Value>& outputs,
                   const std::filesystem::path& folder);

// Writer of --tap DIR: every value that any node read or wrote, once, as a .pb file. taps.json
// lists the nodes, values.json maps the main graph's names to files (for `touchstone judge
// --taps`).
class TapWriter {
 public:
  explicit TapWriter(std::filesystem::path folder);
  void feed(const std::string& name, const Value& value);
  void operator()(const Call& call, const std::string& path);
  void finish();

 private:
  std::string file_of(const Value& value);

  std::filesystem::path folder_;
  nlohmann::ordered_json nodes_ = nlohmann::ordered_json::array();
  nlohmann::ordered_json values_ = nlohmann::ordered_json::object();
  // Tensors written so far, by their buffer. They are kept alive, so that no buffer's address is
  // reused.
  std::map<std::pair<const void*, std::string>, std::pair<Tensor, std::string>> written_;
  Index files_ = 0;
};

}  // namespace touchstone::command
