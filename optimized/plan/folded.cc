// Folds nodes whose results the fed shapes and the constants determine: shape arithmetic, position
// numbers, masks. They are computed once, when the plan is made: by the reference, or by the fast
// kernels if they are large.
#include <algorithm>

#include "core/budget_watch.h"
#include "core/error.h"
#include "model/scopes.h"
#include "optimized/folding.h"
#include "optimized/plan/analyzed_graph.h"
#include "reference/interpreter.h"
#include "reference/shape_only.h"
#include "transform/optimize/graph_passes.h"

namespace touchstone::optimized {
namespace {

constexpr Index bytes_a_node = Index{4} << 20, bytes_in_all = Index{64} << 20;
constexpr Index steps_in_all = Index{1} << 24;  // elementary operations of all folded nodes
constexpr Index large_bytes = 16384;            // results that take longer than a plan of their own

bool is_plain_tensor(const AnalyzedValue& value) {
  return value.type && value.type->kind == ValueType::Kind::tensor &&
         value.type->element != Type::undefined && value.type->element != Type::string;
}

// Returns the value as far as the node reads it: a constant, or a shape for kernels that read
// nothing else. Absent if it is not known.
Value known(const AnalyzedValue& value, bool shape_alone) {
  if (value.constant) return *value.constant;
  if (!shape_alone || !value.shape || !is_plain_tensor(value)) return {};
  return shape_only_tensor(value.type->element, *value.shape);
}

}  // namespace

std::vector<std::shared_ptr<const Tensor>> AnalyzedGraph::results(const AnalyzedNode& fact) const {
  const Node& node = *fact.node;
  if (fact.broken || node.signature == nullptr || transform::draws(node) ||
      !subgraphs_of(node).empty())
    return {};
  bool is_large = false;
  for (const Index output : fact.outputs) {
    if (output == no_value) continue;
    const AnalyzedValue& made = value(output);
    if (!made.shape || !is_plain_tensor(made)) return {};
    const Index bytes = packed_bytes(made.type->element, count(*made.shape));
    if (bytes > bytes_a_node) return {};
    is_large = is_large || bytes >= large_bytes;
  }
  std::vector<Value> inputs;
  for (const Index input : fact.inputs) {
    inputs.push_back(input == no_value ? Value()
                                       : known(value(input), node.signature->form == "measure"));
    if (input != no_value && inputs.back().absent()) return {};
  }
  Limits limits = current_limits();
  limits.bytes = std::min(limits.bytes, bytes_a_node);
  const LimitsScope scope(limits);  // of what the kernel makes; a fed shape may be larger
  std::vector<Value> outputs;
  if (is_large) {
    ThreadPool pool(1);
    outputs = evaluate_fast(node, inputs, model_, limits, true, pool);
  } else {
    outputs = evaluate(*node.signature, node.attributes, std::move(inputs),
                       static_cast<Index>(fact.outputs.size()));
  }
  std::vector<std::shared_ptr<const Tensor>> made;
  for (std::size_t k = 0; k < fact.outputs.size(); ++k) {
    made.push_back(nullptr);
    if (fact.outputs[k] == no_value) continue;
    const AnalyzedValue& expected = value(fact.outputs[k]);
    if (!outputs[k].is_tensor() || outputs[k].type() != *expected.type ||
        outputs[k].tensor().shape() != *expected.shape)
      return {};
    made.back() = std::make_shared<const Tensor>(outputs[k].tensor());
  }
  return made;
}

void AnalyzedGraph::fold(const Limits& given) {
  const LimitsScope scope(given);
  BudgetWatch watch;
  Index bytes = 0, left = std::min(given.folding_work, steps_in_all);
  for (std::size_t k = 0; k < nodes_.size() && bytes < bytes_in_all; ++k) {
    AnalyzedNode& fact = nodes_[k];
    std::vector<std::shared_ptr<const Tensor>> made;
    bool failed = false;
    watch.step();
    {
      const Index share = left / 4;  // one node leaves work for others
      const Budget budget("folding_work", share);
      try {
        made = results(fact);
      } catch (const Error& error) {  // not an error here: the run reports it
        if (error.kind == ErrorKind::internal) throw;
        failed = true;
      }
      left -= std::min(budget.work(), share);
    }
    if (failed) check_budget();
    for (std::size_t output = 0; output < made.size(); ++output) {
      if (made[output] == nullptr) continue;
      bytes += packed_bytes(made[output]->type(), made[output]->size());
      values_[static_cast<std::size_t>(fact.outputs[output])].constant = made[output].get();
      folded_.push_back(std::move(made[output]));
      fact.folded = true;
    }
    if (!fact.folded) continue;
    for (AnalyzedValue* const read : reads(fact)) std::erase(read->users, static_cast<Index>(k));
  }
}

std::vector<AnalyzedValue*> AnalyzedGraph::reads(const AnalyzedNode& fact) {
  std::vector<AnalyzedValue*> all;
  for (const Index input : fact.inputs) {
    if (input != no_value) all.push_back(&values_[static_cast<std::size_t>(input)]);
  }
  return all;
}

}  // namespace touchstone::optimized
