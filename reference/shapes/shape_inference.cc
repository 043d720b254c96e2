// Numbers the values and symbols of a model in the order that passes find them.
#include "reference/shapes/shape_walk.h"

namespace touchstone {

std::size_t ShapeInference::row(const std::string& path, const std::string& name, const Node* node,
                                const Graph* graph) {
  const auto [at, fresh] = row_of_.emplace(path + "|" + name, rows.size());
  if (fresh)
    rows.push_back({path, name, node, graph ? declaration(*graph, name) : nullptr, std::nullopt});
  return at->second;
}

std::size_t ShapeInference::named(const std::string& name, bool of_input) {
  const auto [at, fresh] = by_name.emplace(name, symbols.size());
  if (fresh) symbols.push_back({name, false});
  if (of_input) symbols[at->second].of_input = true;
  return at->second;
}

std::size_t ShapeInference::unnamed(const std::string& place) {
  const auto [at, fresh] = by_place_.emplace(place, symbols.size());
  if (fresh) symbols.push_back({});
  return at->second;
}

const ValueInfo* ShapeInference::declaration(const Graph& graph, const std::string& name) {
  const auto [at, fresh] = declared_.try_emplace(&graph);
  if (fresh) {
    for (const auto* list : {&graph.outputs, &graph.inputs, &graph.values}) {
      for (const ValueInfo& value : *list) at->second.emplace(value.name, &value);
    }
  }
  const auto found = at->second.find(name);
  return found == at->second.end() ? nullptr : found->second;
}

}  // namespace touchstone
