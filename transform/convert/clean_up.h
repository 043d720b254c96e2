// Cleanup after all nodes are converted: removes values without uses, renumbers nodes and fits the
// format version to the opsets.
#pragma once

#include <set>
#include <string>

#include "transform/convert/node_rewriter.h"

namespace touchstone::transform {

// Values that the model used before conversion. Only those may be removed once nothing uses them;
// values unused from the start stay.
class Uses {
 public:
  explicit Uses(const Model& model);
  void clean_up(Model& model) const;

 private:
  std::set<std::string> used_;
};

// Returns a node that computes a constant, named and annotated after the node that it replaces.
// Throws Error (unsupported) if ai.onnx is not imported.
Node constant_node(const std::string& name, Tensor value, const Node& instead,
                   const Imports& imports);

// Sets Node::index to the position in the graph.
void number(Model& model);

// Sets ir_version to one that the releases with the model's opsets support: raises it if needed,
// lowers it if an opset was lowered.
void fit_format(Model& model, bool lower);

}  // namespace touchstone::transform
