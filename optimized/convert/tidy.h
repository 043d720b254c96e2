// What is left to do when all nodes are converted: what nobody uses any more goes, nodes are
// numbered, and the version of the format fits the opsets.
#pragma once

#include <set>
#include <string>

#include "optimized/convert/rewrite.h"

namespace touchstone::conversion {

// What the model used before: only what it used and does not any more may go.
class Uses {
 public:
  explicit Uses(const Model& model);
  void tidy(Model& model) const;

 private:
  std::set<std::string> used_;
};

// A node that makes a constant.
Node constant_node(const std::string& name, Tensor value, const Node& instead,
                   const Imports& imports);

// Node::index is the position in the graph.
void number(Model& model);

// ir_version becomes one that the releases of the model's opsets knew: it is raised where it must
// be, and lowered where opsets were.
void fit_format(Model& model, bool lower);

}  // namespace touchstone::conversion
