// Proving passes that follow others of the same model: the visits of nodes are kept.
#include <cstring>

#include "core/budget_watch.h"
#include "model/scopes.h"
#include "reference/shapes/shape_walk.h"

namespace touchstone {
namespace {

// False also for strings: they are not compared.
bool same(const Tensor& a, const Tensor& b) {
  return a.type() == b.type() && a.shape() == b.shape() && a.type() != Type::string &&
         (a.bytes().empty() ||
          std::memcmp(a.bytes().data(), b.bytes().data(), a.bytes().size()) == 0);
}

bool same(const PartialValue& a, const PartialValue& b) {
  return a.left_out == b.left_out && a.type == b.type && a.shape == b.shape && a.inner == b.inner &&
         a.value.has_value() == b.value.has_value() && (!a.value || same(*a.value, *b.value));
}

bool unchanged(const ShapeWalk::Memo::Visit& visit) {
  if (!visit.repeats) return false;
  for (std::size_t k = 0; k < visit.read.size(); ++k) {
    if (visit.read[k] && !same(*visit.read[k], visit.inputs[k])) return false;
  }
  return true;
}

}  // namespace

void ShapeWalk::visit_changed(Memo& memo) {
  const std::vector<Node>& nodes = state_.model.graph.nodes;
  BudgetWatch watch;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    watch.step();
    Memo::Visit& kept = memo.visits[k];
    if (unchanged(kept)) continue;
    kept = {};
    for (const std::string& name : nodes[k].inputs) {
      const auto found = memo.frame.values.find(name);
      const bool is_value = found != memo.frame.values.end();
      kept.read.push_back(is_value ? &found->second : nullptr);
      kept.inputs.push_back(is_value ? found->second : PartialValue());
    }
    const bool repeats = visit(nodes[k], memo.frame);
    kept.repeats = repeats && subgraphs_of(nodes[k]).empty();  // these capture other values
  }
}

InferredRun ShapeWalk::go_on(Memo& memo) {
  const LimitsScope scope(state_.limits);
  const Graph& graph = state_.model.graph;
  memo.frame.graph = &graph;
  memo.visits.resize(graph.nodes.size());
  found_.shapes = memo.shapes;
  Frame defaults;  // of inputs: the memo has the last pass's feeds
  defaults.graph = &graph;
  for (const ValueInfo& input : graph.inputs)
    define(input.name, input_of(input, defaults), nullptr, memo.frame);
  visit_changed(memo);
  found_.shapes.resize(state_.rows.size());
  memo.shapes = found_.shapes;
  if (found_.gave_up) memo = {};
  return std::move(found_);
}

}  // namespace touchstone
