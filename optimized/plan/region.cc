// Grows a region node by node and keeps the longest one with a single visible output.
#include "optimized/plan/region.h"

#include <algorithm>

#include "optimized/lowering/half_precision.h"
#include "optimized/registry/registry.h"
#include "reference/lists.h"

namespace touchstone::optimized {
namespace {

constexpr std::size_t max_ops = 16, max_inputs = 6;
constexpr Index max_rank = 6;

bool broadcasts_to(const Shape& from, const Shape& to) {
  return broadcastable(from, to) && broadcast(from, to) == to;
}

bool contains(const std::vector<Index>& list, Index k) {
  return std::find(list.begin(), list.end(), k) != list.end();
}

class Growth {
 public:
  Growth(const AnalyzedGraph& graph, const std::vector<bool>& taken)
      : graph_(graph), taken_(taken) {}

  Region from_op(const PointwiseOp& first) {
    made_.shape = *graph_.value(first.output).shape;
    add(first);
    return longest();
  }
  Region from_value(Index start) {
    made_.start = start;
    made_.shape = *graph_.value(start).shape;
    inside_.push_back(start);
    return longest();
  }

 private:
  Region longest() {
    Region best;
    if (closed()) best = made_;
    for (;;) {
      const std::optional<PointwiseOp> next = candidate();
      if (!next || made_.ops.size() == max_ops) return best;
      add(*next);
      if (closed()) best = made_;
    }
  }

  void add(const PointwiseOp& op) {
    for (const Index input : op.inputs) {
      if (input != no_value && !contains(inside_, input) && !contains(made_.externals, input))
        made_.externals.push_back(input);
    }
    made_.ops.push_back(op);
    inside_.push_back(op.output);
    nodes_.push_back(op.node);
    if (op.second != no_value) nodes_.push_back(op.second);
  }

  // Returns the first node that reads a value of the region and may join it.
  std::optional<PointwiseOp> candidate() const {
    std::optional<PointwiseOp> best;
    for (const Index value : inside_) {
      for (const Index user : graph_.value(value).users) {
        if (contains(nodes_, user) || taken_[static_cast<std::size_t>(user)]) continue;
        if (!made_.ops.empty() && user < made_.ops.back().node) continue;
        if (best && user >= best->node) continue;
        const std::optional<PointwiseOp> op = pointwise_op(graph_, user);
        if (op && *graph_.value(op->output).shape == made_.shape) best = op;
      }
    }
    return best;
  }

  // True if only the last value is visible outside.
  bool closed() const {
    if (made_.ops.empty()) return false;
    for (const Index value : inside_) {
      if (value == made_.output()) continue;
      const AnalyzedValue& fact = graph_.value(value);
      if (fact.output) return false;
      for (const Index user : fact.users) {
        if (!contains(nodes_, user)) return false;
      }
    }
    return true;
  }

  const AnalyzedGraph& graph_;
  const std::vector<bool>& taken_;
  Region made_;
  std::vector<Index> inside_, nodes_;
};

}  // namespace

std::vector<Index> Region::nodes() const {
  std::vector<Index> all;
  for (const PointwiseOp& op : ops) {
    all.push_back(op.node);
    if (op.second != no_value) all.push_back(op.second);
  }
  return all;
}

std::optional<PointwiseOp> pointwise_op(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature* signature = fact.node->signature;
  if (signature == nullptr) return std::nullopt;
  PointwiseOp op{node, fact.inputs, no_value};
  if (const std::optional<HalfRounding> rounding = half_rounding(graph, node)) {
    op.output = rounding->output;
    op.second = rounding->second;
  } else {
    const FastEntry* entry = find_fast(*signature);
    if (entry == nullptr || !entry->broadcasts) return std::nullopt;
    if (fact.outputs.size() != 1 || fact.outputs[0] == no_value) return std::nullopt;
    op.output = fact.outputs[0];
  }
  if (op.inputs.size() > max_inputs) return std::nullopt;
  const AnalyzedValue& made = graph.value(op.output);
  if (!made.floats() || count(*made.shape) == 0 || made.shape->size() > max_rank)
    return std::nullopt;
  for (const Index input : op.inputs) {
    if (input == no_value) continue;
    const AnalyzedValue& read = graph.value(input);
    if (!read.floats() || !broadcasts_to(*read.shape, *made.shape)) return std::nullopt;
  }
  return op;
}

Region grow_from_node(const AnalyzedGraph& graph, Index first, const std::vector<bool>& taken) {
  const std::optional<PointwiseOp> op = pointwise_op(graph, first);
  if (!op) return {};
  return Growth(graph, taken).from_op(*op);
}

Region grow_from_value(const AnalyzedGraph& graph, Index start, const std::vector<bool>& taken) {
  const AnalyzedValue& fact = graph.value(start);
  if (fact.output || !fact.floats() || fact.shape->size() > max_rank || count(*fact.shape) == 0)
    return {};
  return Growth(graph, taken).from_value(start);
}

}  // namespace touchstone::optimized
