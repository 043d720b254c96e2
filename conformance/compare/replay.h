// Files that reproduce a fault: the guilty nodes as a model, with their inputs.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "model/graph.h"

namespace touchstone::compare {

struct Replay {
  std::filesystem::path model;  // folder/model.onnx
  std::filesystem::path seen;   // folder/seen: input_K.pb, and output_K.pb as the target gave them
  bool expects = false;         // folder/test_data_set_0: the same inputs, and our outputs
};

// Writes some nodes of a model as a case of its own. `values`: what one target had and gave, from
// which inputs and outputs of the case are taken. If an operator has no kernel of ours, the case
// has no expected outputs and cannot be part of a suite.
Replay write_replay(const Model& model, const std::set<Index>& nodes,
                    const std::map<std::string, Value>& values,
                    const std::filesystem::path& folder);

}  // namespace touchstone::compare
