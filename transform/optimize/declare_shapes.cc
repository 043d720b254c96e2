// Writes inferred shapes into the declarations of a graph's values.
#include "transform/optimize/declare_shapes.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/place.h"
#include "reference/shapes/shapes.h"

namespace touchstone::transform {
namespace {

using OfGraph = std::map<std::string, const InferredValue*>;  // by name

// Returns a start of names that no declared symbol has.
std::string free_prefix(const Model& model) {
  std::string prefix = "unk_";
  const auto is_taken = [&](const std::vector<ValueInfo>& list) {
    return std::any_of(list.begin(), list.end(), [&](const ValueInfo& value) {
      return value.shape &&
             std::any_of(value.shape->begin(), value.shape->end(),
                         [&](const Dim& dim) { return dim.symbol.starts_with(prefix); });
    });
  };
  while (is_taken(model.graph.inputs) || is_taken(model.graph.outputs) ||
         is_taken(model.graph.values))
    prefix += '_';
  return prefix;
}

class Declarer {
 public:
  Declarer(InferredShapes inferred, std::string prefix)
      : inferred_(std::move(inferred)), prefix_(std::move(prefix)) {
    for (const InferredValue& value : inferred_.values)
      by_path_[value.path].insert_or_assign(value.name, &value);
  }

  void declare(Graph& graph, const std::string& path) {
    const auto found = by_path_.find(path);
    if (found != by_path_.end()) declare_values(graph, found->second);
    for (Node& node : graph.nodes) {
      for (auto& [name, attribute] : node.attributes) {
        auto* branch = std::get_if<std::shared_ptr<const Graph>>(&attribute.is);
        if (!branch || !(*branch)->inputs.empty()) continue;  // bodies run with changing shapes
        auto copy = std::make_shared<Graph>(**branch);
        declare(*copy, subgraph_path(path, node, name));
        *branch = std::move(copy);
      }
    }
  }

  DeclaredSizes counts;

 private:
  // Returns the size as a declaration: a number, an expression, or neither. An assumed size is not
  // declared: a reader would take it as proved.
  Dim dim_of(const InferredSize& size) const {
    if (size.assumed || size.text == "?") return {};
    if (size.number) return {size.number, "", {}};
    Dim dim;
    for (const char c : size.text) {
      if (c == '?')
        dim.symbol += prefix_;
      else
        dim.symbol += c;
    }
    return dim;
  }

  // Completes a declaration; what it says already stays.
  void complete(ValueInfo& value, const InferredValue& inferred) const {
    if (!value.type) value.type = inferred.type;
    if (!inferred.shape || inferred.rank_assumed) return;
    if (!value.shape) value.shape.emplace(inferred.shape->size());
    if (value.shape->size() != inferred.shape->size()) return;
    for (std::size_t d = 0; d < value.shape->size(); ++d) {
      Dim& dim = (*value.shape)[d];
      if (dim.size || !dim.symbol.empty()) continue;
      Dim known = dim_of((*inferred.shape)[d]);
      known.denotation = std::move(dim.denotation);
      dim = std::move(known);
    }
  }

  void count(const ValueInfo& value) {
    if (!value.shape) return;
    ++counts.values;
    for (const Dim& dim : *value.shape)
      ++(dim.size ? counts.numbers : dim.symbol.empty() ? counts.unknown : counts.expressions);
  }

  void declare_values(Graph& graph, const OfGraph& inferred) {
    std::map<std::string, ValueInfo*> declared;
    for (std::vector<ValueInfo>* list : {&graph.inputs, &graph.outputs, &graph.values}) {
      for (ValueInfo& value : *list) {
        declared.emplace(value.name, &value);
        if (const auto found = inferred.find(value.name); found != inferred.end())
          complete(value, *found->second);
      }
    }
    std::vector<ValueInfo> added;
    for (const Node& node : graph.nodes) {
      for (const std::string& name : node.outputs) {
        const auto found = inferred.find(name);
        if (name.empty() || found == inferred.end()) continue;
        if (const auto at = declared.find(name); at != declared.end()) {
          count(*at->second);
          continue;
        }
        if (!found->second->type) continue;  // a declaration must have a type
        added.push_back({.name = name, .type = std::nullopt, .shape = std::nullopt});
        complete(added.back(), *found->second);
        count(added.back());
      }
    }
    graph.values.insert(graph.values.end(), std::make_move_iterator(added.begin()),
                        std::make_move_iterator(added.end()));
  }

  const InferredShapes inferred_;
  const std::string prefix_;
  std::map<std::string, OfGraph> by_path_;
};

}  // namespace

DeclaredSizes declare_shapes(Model& model, const Limits& limits) {
  Declarer declarer(infer_shapes(model, limits), free_prefix(model));
  declarer.declare(model.graph, "");
  return declarer.counts;
}

}  // namespace touchstone::transform
