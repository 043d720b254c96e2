// Finds steps that depend on captured values and constants alone. Their outputs must be in the
// plan's memory: tensors of their own are released after each trip.
#include "optimized/plan/steady.h"

#include <algorithm>
#include <map>

#include "model/scopes.h"
#include "optimized/plan/builder.h"
#include "transform/optimize/graph_passes.h"

namespace touchstone::optimized {
namespace {

class Search {
 public:
  Search(const Builder& builder, const std::set<std::string>& inputs)
      : builder_(builder), graph_(builder.graph()), steady_(builder.steps.size(), false) {
    for (std::size_t k = 0; k < builder.steps.size(); ++k) {
      for (const Index node : builder.steps[k]->nodes) step_of_[node] = k;
    }
    for (const std::string& name : inputs) {
      if (const Index value = graph_.find(name); value != no_value) inputs_.insert(value);
    }
    for (const auto& [value, buffer] : builder.plain_buffers()) {
      if (inputs_.contains(value)) loaded_.insert(buffer);
    }
  }

  std::vector<bool> found() {
    for (std::size_t k = 0; k < steady_.size(); ++k) {
      steady_[k] = is_steady(k);
      std::set<Index>& buffers = steady_[k] ? written_ : varying_;
      for (const BufferUse::Write& write : builder_.uses[k].writes) buffers.insert(write.buffer);
    }
    return std::move(steady_);
  }
  const std::set<Index>& written() const { return written_; }

 private:
  bool is_steady(std::size_t k) const {
    const std::vector<Index>& nodes = builder_.steps[k]->nodes;
    return nodes.empty() ? converts_steady(k)
                         : std::all_of(nodes.begin(), nodes.end(),
                                       [&](Index node) { return is_steady_node(node, k); });
  }

  // A change of layout, or a copy of an input: it reads buffers that steady steps wrote.
  bool converts_steady(std::size_t k) const {
    const BufferUse& use = builder_.uses[k];
    return !use.buffers.empty() &&
           std::all_of(use.buffers.begin(), use.buffers.end(), [&](Index buffer) {
             const bool made =
                 std::any_of(use.writes.begin(), use.writes.end(),
                             [&](const BufferUse::Write& write) { return write.buffer == buffer; });
             if (made && use.buffers.size() == 1) return loaded_.contains(buffer);
             return made || builder_.constants.contains(buffer) ||
                    (written_.contains(buffer) && !varying_.contains(buffer));
           });
  }

  bool is_steady_node(Index index, std::size_t step) const {
    const AnalyzedNode& fact = graph_.node(index);
    const Node& node = *fact.node;
    if (fact.broken || node.signature == nullptr || transform::draws(node) ||
        !subgraphs_of(node).empty())
      return false;
    return std::all_of(fact.inputs.begin(), fact.inputs.end(),
                       [&](Index value) { return is_steady_value(value, step); }) &&
           std::none_of(fact.outputs.begin(), fact.outputs.end(), [&](Index value) {
             return value != no_value && builder_.last_use.contains(value);
           });
  }

  bool is_steady_value(Index value, std::size_t step) const {
    if (value == no_value || graph_.value(value).constant || inputs_.contains(value)) return true;
    const Index producer = graph_.value(value).producer;
    if (producer == no_value) return false;
    const auto found = step_of_.find(producer);
    if (found != step_of_.end()) return found->second == step || steady_[found->second];
    const std::vector<Index>& from = graph_.node(producer).inputs;  // of a view, without a step
    return std::all_of(from.begin(), from.end(),
                       [&](Index input) { return is_steady_value(input, step); });
  }

  const Builder& builder_;
  const AnalyzedGraph& graph_;
  std::vector<bool> steady_;
  std::map<Index, std::size_t> step_of_;  // by node
  std::set<Index> inputs_;                // values
  // Buffers: copies of inputs; what steady steps write; what others write, perhaps parts of both.
  std::set<Index> loaded_, written_, varying_;
};

}  // namespace

std::vector<bool> find_steady_steps(Builder& builder, const std::set<std::string>& inputs) {
  if (inputs.empty()) return std::vector<bool>(builder.steps.size(), false);
  Search search(builder, inputs);
  std::vector<bool> steady = search.found();
  for (const Index buffer : search.written()) {
    Span& span = builder.spans[static_cast<std::size_t>(buffer)];
    if (span.last >= span.first) span.first = 0, span.last = static_cast<Index>(steady.size());
  }
  return steady;
}

}  // namespace touchstone::optimized
