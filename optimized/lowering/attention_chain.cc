// Finds the nodes of attention that a model spells out.
#include "optimized/lowering/attention_chain.h"

#include <algorithm>

#include "optimized/problems/collapse.h"
#include "reference/lists.h"

namespace touchstone::optimized {
namespace {

// Below these, kernels of single nodes are as fast: their scores stay in the cache.
constexpr Index min_queries = 16, min_scores = Index{1} << 19;
constexpr std::size_t most_changes = 4;
constexpr Index longest = Index{1} << 30;

// Returns the node that makes a value which only `reader` reads.
const AnalyzedNode* maker_for(const AnalyzedGraph& graph, Index value, Index reader) {
  const AnalyzedValue& fact = graph.value(value);
  if (fact.output || fact.constant || fact.producer == no_value) return nullptr;
  if (fact.users.size() != 1 || fact.users.front() != reader) return nullptr;
  return &graph.node(fact.producer);
}

bool is_number(const AnalyzedValue& value) { return value.floats() && count(*value.shape) == 1; }

// Returns the strides of a tensor that is broadcast to a shape; nullopt if it enlarges the shape.
std::optional<IndexVector> strides_in(const AnalyzedValue& value, const Shape& to) {
  if (!value.shape || value.shape->size() > to.size()) return std::nullopt;
  const Shape& from = *value.shape;
  const Index missing = to.size() - from.size();
  for (Index d = 0; d < from.size(); ++d) {
    if (from[d] != 1 && from[d] != to[missing + d]) return std::nullopt;
  }
  return broadcast_strides(from, to.size(), missing);
}

class Finder {
 public:
  Finder(const AnalyzedGraph& graph, Index last) : graph_(graph), last_(last) {}

  std::optional<AttentionChain> find() {
    const AnalyzedNode& product = graph_.node(last_);
    if (!is_standard(product, "MatMul") || product.inputs[0] == product.inputs[1])
      return std::nullopt;
    const AnalyzedNode* const softmax = maker_for(graph_, product.inputs[0], last_);
    if (softmax == nullptr || !is_standard(*softmax, "Softmax")) return std::nullopt;
    const Index reader = graph_.value(product.inputs[0]).producer;
    if (!graph_.value(softmax->inputs[0]).floats()) return std::nullopt;
    made_.scores = *graph_.value(softmax->inputs[0]).shape;
    const Index rank = made_.scores.size();
    const Index axis =
        softmax->attributes().integer("axis", softmax->node->signature->since >= 13 ? -1 : 1);
    if (rank < 2 || (axis != rank - 1 && axis != -1)) return std::nullopt;
    made_.fused.nodes = {last_, reader};
    if (!climb(softmax->inputs[0], reader)) return std::nullopt;
    if (!operand(product.inputs[1], last_, made_.values)) return std::nullopt;
    if (!fits()) return std::nullopt;
    std::sort(made_.fused.nodes.begin(), made_.fused.nodes.end());
    made_.fused.nodes.erase(std::unique(made_.fused.nodes.begin(), made_.fused.nodes.end()),
                            made_.fused.nodes.end());
    std::reverse(made_.changes.begin(), made_.changes.end());
    return std::move(made_);
  }

 private:
  // Collects the changes of the scores up to their product.
  bool climb(Index value, Index reader) {
    for (std::size_t k = 0; k <= most_changes; ++k) {
      const AnalyzedNode* const node = maker_for(graph_, value, reader);
      if (node == nullptr || graph_.value(value).shape != made_.scores) return false;
      reader = graph_.value(value).producer;
      made_.fused.nodes.push_back(reader);
      if (is_standard(*node, "MatMul"))
        return node->inputs[0] != node->inputs[1] &&
               operand(node->inputs[0], reader, made_.queries) &&
               operand(node->inputs[1], reader, made_.keys);
      const std::optional<Index> scores = change(*node);
      if (!scores) return false;
      value = *scores;
    }
    return false;
  }

  // Records what a node does to the scores, and returns these.
  std::optional<Index> change(const AnalyzedNode& node) {
    const std::vector<Index>& inputs = node.inputs;
    const auto is_scores = [&](Index value) {
      return graph_.value(value).producer != no_value && !graph_.value(value).constant &&
             graph_.value(value).floats() && *graph_.value(value).shape == made_.scores;
    };
    const auto record = [&](ScoreChange::Kind kind, Index value, Index other = no_value) {
      const std::optional<IndexVector> strides = strides_in(graph_.value(value), made_.scores);
      if (!strides) return false;
      made_.changes.push_back({kind, value, *strides, other});
      made_.fused.reads.push_back(value);
      if (other != no_value) made_.fused.reads.push_back(other);
      return true;
    };
    using Kind = ScoreChange::Kind;
    if (node.node->signature->since < 7) return std::nullopt;
    if (is_standard(node, "Div") && is_number(graph_.value(inputs[1])))
      return record(Kind::divide, inputs[1]) ? std::optional(inputs[0]) : std::nullopt;
    for (const std::size_t k : {0U, 1U}) {
      if (inputs.size() != 2 || !is_scores(inputs[k])) continue;
      const Index beside = inputs[1 - k];
      if (is_standard(node, "Mul") && is_number(graph_.value(beside)))
        return record(Kind::multiply, beside) ? std::optional(inputs[k]) : std::nullopt;
      if (is_standard(node, "Add") && graph_.value(beside).floats() && record(Kind::add, beside))
        return inputs[k];
    }
    if (!is_standard(node, "Where") || !graph_.value(inputs[0]).is(Type::boolean))
      return std::nullopt;
    for (const std::size_t k : {1U, 2U}) {
      const Index other = inputs[3 - k];
      if (is_scores(inputs[k]) && is_number(graph_.value(other)) &&
          record(k == 1 ? Kind::keep_where : Kind::replace_where, inputs[0], other))
        return inputs[k];
    }
    return std::nullopt;
  }

  // Takes a matrix as it is, or the input of a Transpose whose output no other node reads.
  bool operand(Index value, Index reader, StackedMatrix& made) {
    const AnalyzedValue& fact = graph_.value(value);
    if (!fact.floats() || fact.shape->size() != made_.scores.size()) return false;
    made = {value, dense_strides(*fact.shape)};
    const AnalyzedNode* const turned = maker_for(graph_, value, reader);
    if (turned != nullptr && is_standard(*turned, "Transpose") &&
        graph_.value(turned->inputs[0]).floats()) {
      const IndexVector from = dense_strides(*graph_.value(turned->inputs[0]).shape);
      const IndexVector perm = turned->attributes().integers("perm");
      IndexVector strides;
      for (Index d = 0; d < from.size(); ++d)
        strides.push_back(from[perm.empty() ? from.size() - 1 - d : perm[d]]);
      if (&made != &made_.queries || strides.back() == 1) {
        made = {turned->inputs[0], strides};
        made_.fused.nodes.push_back(fact.producer);
      }
    }
    shapes_.push_back(*fact.shape);
    made_.fused.reads.push_back(made.value);
    return true;
  }

  // True if the shapes are those of products without broadcasting.
  bool fits() {
    const Index rank = made_.scores.size();
    const Shape &q = shapes_[0], &k = shapes_[1], &v = shapes_[2];
    for (Index d = 0; d + 2 < rank; ++d) {
      if (q[d] != made_.scores[d] || k[d] != q[d] || v[d] != q[d]) return false;
    }
    const Index queries = made_.scores[rank - 2], keys = made_.scores[rank - 1];
    made_.depth = q[rank - 1];
    made_.width = v[rank - 1];
    if (q[rank - 2] != queries || k[rank - 2] != made_.depth || k[rank - 1] != keys ||
        v[rank - 2] != keys)
      return false;
    const std::initializer_list<Index> extents{keys, made_.depth, made_.width};
    return queries >= min_queries && count(made_.scores) >= min_scores && std::min(extents) > 0 &&
           std::max(extents) < longest &&
           std::max(made_.queries.strides[rank - 2], made_.width) < longest;
  }

  const AnalyzedGraph& graph_;
  const Index last_;
  AttentionChain made_;
  std::vector<Shape> shapes_;  // of queries, keys and values
};

}  // namespace

std::optional<AttentionChain> attention_chain(const AnalyzedGraph& graph, Index last) {
  return Finder(graph, last).find();
}

}  // namespace touchstone::optimized
