// Estimates operations by operator family and op, so that a profile can show the share of peak
// performance that a step reaches.
#include "optimized/plan/cost.h"

#include <algorithm>
#include <limits>

#include "model/scopes.h"
#include "optimized/registry/registry.h"

namespace touchstone::optimized {
namespace {

void add_once(std::vector<Index>& list, Index k) {
  if (std::find(list.begin(), list.end(), k) == list.end()) list.push_back(k);
}

double real(Index size) { return static_cast<double>(size); }

double elements(const AnalyzedValue& fact) { return fact.shape ? real(count(*fact.shape)) : 0; }

double product_of(const IndexVector& list) {
  double product = 1;
  for (const Index size : list) product *= real(size);
  return product;
}

// As a double: a kernel_shape attribute may describe more elements than an Index can count.
double flop_of(const AnalyzedGraph& graph, const AnalyzedNode& fact) {
  const Signature* signature = fact.node->signature;
  if (!signature || fact.inputs.empty() || fact.inputs[0] == no_value ||
      fact.outputs[0] == no_value)
    return 0;
  const AnalyzedValue &x = graph.value(fact.inputs[0]), &made = graph.value(fact.outputs[0]);
  if (!x.shape || !made.shape || count(*x.shape) == 0) return 0;
  // Counts the products with weights: each element of `beside` is multiplied by all weights of one
  // index of their first dimension.
  const auto weighed = [&](const AnalyzedValue& beside) {
    const AnalyzedValue* w = fact.inputs.size() > 1 ? &graph.value(fact.inputs[1]) : nullptr;
    return w && w->shape && elements(*w) > 0
               ? 2.0 * elements(beside) * (elements(*w) / real((*w->shape)[0]))
               : 0.0;
  };
  switch (operator_kind(*signature)) {
    case OperatorKind::convolution:
      return weighed(made);
    case OperatorKind::transposed_convolution:
      return weighed(x);
    case OperatorKind::gemm:
      return 2.0 * elements(made) *
             real((*x.shape)[fact.attributes().integer("transA") != 0 ? 0 : 1]);
    case OperatorKind::matmul:
      return 2.0 * elements(made) * real(x.shape->back());
    case OperatorKind::max_pool:
    case OperatorKind::average_pool:
      return elements(made) * product_of(fact.attributes().integers("kernel_shape"));
    case OperatorKind::global_average:
    case OperatorKind::global_max:
      return elements(x);
    case OperatorKind::concat:
    case OperatorKind::reshape:
      return 0;
    default:
      break;
  }
  if (signature->form == "elementwise") return elements(made);
  return signature->form == "reduce" || signature->form == "normalise" ? elements(x) : 0;
}

}  // namespace

Cost cost_of(const AnalyzedGraph& graph, const std::vector<Index>& nodes) {
  Cost cost;
  double flop = 0;
  const auto is_inside = [&](Index node) {
    return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
  };
  for (const Index k : nodes) {
    const AnalyzedNode& fact = graph.node(k);
    for (const Index input : fact.inputs) {
      if (input != no_value && !is_inside(graph.value(input).producer)) add_once(cost.reads, input);
    }
    for (const Index output : fact.outputs) {
      if (output == no_value) continue;
      const AnalyzedValue& value = graph.value(output);
      if (value.output || !std::all_of(value.users.begin(), value.users.end(), is_inside))
        add_once(cost.writes, output);
    }
    flop += flop_of(graph, fact);
  }
  cost.flop = static_cast<Index>(std::clamp(flop, 0.0, 1e18));
  for (const std::vector<Index>* list : {&cost.reads, &cost.writes}) {
    for (const Index value : *list) {
      const AnalyzedValue& fact = graph.value(value);
      if (fact.type && fact.type->kind == ValueType::Kind::tensor &&
          fact.type->element != Type::string)
        cost.bytes += packed_bytes(fact.type->element, fact.shape ? count(*fact.shape) : 0);
    }
  }
  return cost;
}

double nanoseconds_of(const AnalyzedGraph& graph, const std::vector<Index>& nodes) {
  constexpr double an_operation = 0.5, a_byte = 0.1;
  for (const Index k : nodes) {
    const AnalyzedNode& fact = graph.node(k);
    const auto is_unknown = [&](Index value) {
      return value != no_value && !graph.value(value).shape;
    };
    if (std::any_of(fact.inputs.begin(), fact.inputs.end(), is_unknown) ||
        std::any_of(fact.outputs.begin(), fact.outputs.end(), is_unknown) ||
        !subgraphs_of(*fact.node).empty())
      return std::numeric_limits<double>::infinity();
  }
  const Cost cost = cost_of(graph, nodes);
  return real(cost.flop) * an_operation + real(cost.bytes) * a_byte;
}

}  // namespace touchstone::optimized
