// What shows a fault again, as files: the guilty nodes alone, with what went in.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "model/graph.h"

namespace touchstone {

struct Replay {
  std::filesystem::path model;  // folder/model.onnx
  std::filesystem::path seen;   // folder/seen: input_K.pb, and output_K.pb as the target gave them
  bool expects = false;  // folder/test_data_set_0: the same inputs, and outputs as we compute them
};

// Writes some nodes of a model as a case of its own. `values`: what one target had and gave, which
// is what the nodes read from outside and what is kept of what they make. Without outputs of our
// own (an operator without kernel) the case expects nothing and is none of a suite.
Replay write_replay(const Model& model, const std::set<Index>& nodes,
                    const std::map<std::string, Value>& values,
                    const std::filesystem::path& folder);

}  // namespace touchstone
