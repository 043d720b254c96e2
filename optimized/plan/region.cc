// Grows a region node by node and keeps the longest one with a single visible output.
#include "optimized/plan/region.h"

#include <algorithm>

#include "optimized/registry/registry.h"
#include "reference/lists.h"

namespace touchstone {
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

  Region from_node(Index first) {
    made_.shape = *graph_.value(graph_.node(first).outputs[0]).shape;
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
      const Index next = candidate();
      if (next == no_value || made_.ops.size() == max_ops) return best;
      add(next);
      if (closed()) best = made_;
    }
  }

  void add(Index node) {
    const AnalyzedNode& fact = graph_.node(node);
    for (const Index input : fact.inputs) {
      if (input != no_value && !contains(inside_, input) && !contains(made_.externals, input))
        made_.externals.push_back(input);
    }
    made_.ops.push_back({node, fact.inputs, fact.outputs[0]});
    inside_.push_back(fact.outputs[0]);
    nodes_.push_back(node);
  }

  // Returns the first node that reads a value of the region and may join it.
  Index candidate() const {
    Index best = no_value;
    for (const Index value : inside_) {
      for (const Index user : graph_.value(value).users) {
        if (contains(nodes_, user) || taken_[static_cast<std::size_t>(user)]) continue;
        if (!nodes_.empty() && user < nodes_.back()) continue;
        if (best != no_value && user >= best) continue;
        if (is_pointwise(graph_, user) &&
            *graph_.value(graph_.node(user).outputs[0]).shape == made_.shape)
          best = user;
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

bool is_pointwise(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature* signature = fact.node->signature;
  if (signature == nullptr) return false;
  const FastEntry* entry = find_fast(*signature);
  if (entry == nullptr || !entry->broadcasts) return false;
  if (fact.outputs.size() != 1 || fact.outputs[0] == no_value || fact.inputs.size() > max_inputs)
    return false;
  const AnalyzedValue& made = graph.value(fact.outputs[0]);
  if (!made.floats() || count(*made.shape) == 0 || made.shape->size() > max_rank) return false;
  return std::all_of(fact.inputs.begin(), fact.inputs.end(), [&](Index input) {
    return input == no_value ||
           (graph.value(input).floats() && broadcasts_to(*graph.value(input).shape, *made.shape));
  });
}

Region grow_from_node(const AnalyzedGraph& graph, Index first, const std::vector<bool>& taken) {
  if (!is_pointwise(graph, first)) return {};
  return Growth(graph, taken).from_node(first);
}

Region grow_from_value(const AnalyzedGraph& graph, Index start, const std::vector<bool>& taken) {
  const AnalyzedValue& fact = graph.value(start);
  if (fact.output || !fact.floats() || fact.shape->size() > max_rank || count(*fact.shape) == 0)
    return {};
  return Growth(graph, taken).from_value(start);
}

}  // namespace touchstone
