// Copies the nodes of a function's body or of a branch into the main graph, under new names.
#pragma once

#include <string>
#include <unordered_map>

#include "reference/references.h"
#include "transform/optimize/mutable_graph.h"

namespace touchstone::transform {

// Renamed values of a body, or of a graph inside it; `outer` is the enclosing scope.
struct BodyNames {
  const BodyNames* outer = nullptr;
  std::unordered_map<std::string, std::string> own = {};
  bool captures = false;  // other names are values of the main graph

  const std::string& at(const std::string& name) const;
};

// Copies nodes with new names and with the call's attributes substituted.
class BodyWriter {
 public:
  // `call`: the node that the copies replace.
  BodyWriter(MutableGraph& graph, const Node& call);

  Node written(const Node& node, BodyNames& names);
  // Returns the new name of a value that the body defines.
  std::string named(const std::string& name, BodyNames& names);

 private:
  void rename_graphs(Attribute& attribute, const BodyNames& names);
  Graph renamed(const Graph& graph, const BodyNames& outer);

  MutableGraph& graph_;
  const Node& call_;
  const Attributes attributes_;
};

}  // namespace touchstone::transform
