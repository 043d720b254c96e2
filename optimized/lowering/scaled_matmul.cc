// Finds the nodes that scale the sums of a matmul of integers.
#include "optimized/lowering/scaled_matmul.h"

#include "core/shape.h"

namespace touchstone::optimized {
namespace {

// Returns the other operand of a node that combines `value` with one number or one for each column.
Index operand_beside(const AnalyzedGraph& graph, const AnalyzedNode& fact, Index value) {
  if (fact.node->signature->since < 7) return no_value;
  const Index other = fact.inputs[fact.inputs[0] == value ? 1 : 0];
  const AnalyzedValue &x = graph.value(value), &beside = graph.value(other);
  if (other == value || !beside.floats() || !x.shape || x.shape->empty()) return no_value;
  const Shape& shape = *beside.shape;
  const bool fits =
      count(shape) == 1 ? shape.size() <= x.shape->size() : shape == Shape{x.shape->back()};
  return fits ? other : no_value;
}

// Returns the node that alone reads a value.
const AnalyzedNode* only_user(const AnalyzedGraph& graph, Index value) {
  const AnalyzedValue& fact = graph.value(value);
  return fact.output || fact.users.size() != 1 ? nullptr : &graph.node(fact.users.front());
}

// The longest chain of nodes after a product.
std::optional<ScaledMatmul> scaled_after(const AnalyzedGraph& graph, Index product) {
  const AnalyzedNode& first = graph.node(product);
  if (!is_standard(first, "MatMulInteger")) return std::nullopt;
  ScaledMatmul found{product};
  found.fused.nodes = {product};
  for (const Index input : first.inputs) {
    if (input != no_value) found.fused.reads.push_back(input);
  }
  Index value = first.outputs[0];
  const auto next = [&](std::string_view op) -> const AnalyzedNode* {
    const AnalyzedNode* const user = only_user(graph, value);
    return user != nullptr && is_standard(*user, op) ? user : nullptr;
  };
  const auto join = [&](const AnalyzedNode& node) {
    found.fused.nodes.push_back(graph.value(value).users.front());
    value = node.outputs[0];
  };
  const AnalyzedNode* const cast = next("Cast");
  if (cast == nullptr || !graph.value(cast->outputs[0]).floats()) return std::nullopt;
  join(*cast);
  const AnalyzedNode* const mul = next("Mul");
  if (mul == nullptr) return std::nullopt;
  found.scale = operand_beside(graph, *mul, value);
  if (found.scale == no_value) return std::nullopt;
  join(*mul);
  found.fused.reads.push_back(found.scale);
  if (const AnalyzedNode* const add = next("Add")) {
    found.bias = operand_beside(graph, *add, value);
    if (found.bias != no_value) {
      join(*add);
      found.fused.reads.push_back(found.bias);
    }
  }
  return found;
}

}  // namespace

std::optional<ScaledMatmul> scaled_by(const AnalyzedGraph& graph, Index last) {
  Index node = last;
  for (const std::string_view op : {"Add", "Mul", "Cast"}) {
    const AnalyzedNode& fact = graph.node(node);
    if (!is_standard(fact, op)) continue;
    Index before = no_value;
    for (const Index input : fact.inputs) {
      if (input == no_value || only_user(graph, input) != &fact) continue;
      const Index producer = graph.value(input).producer;
      if (producer == no_value) continue;
      const AnalyzedNode& made = graph.node(producer);
      if (is_standard(made, op == "Add" ? "Mul" : op == "Mul" ? "Cast" : "MatMulInteger"))
        before = producer;
    }
    if (before == no_value) return std::nullopt;
    node = before;
  }
  if (node == last) return std::nullopt;
  std::optional<ScaledMatmul> found = scaled_after(graph, node);
  if (!found || found->fused.nodes.back() != last) return std::nullopt;
  return found;
}

}  // namespace touchstone::optimized
