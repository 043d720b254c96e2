// Lists nodes in the order of the graph. Nodes without a step are folded, or are views.
#include "optimized/plan/node_placement.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "model/place.h"
#include "model/scopes.h"
#include "optimized/plan/plan.h"
#include "optimized/plan/why_slow.h"

namespace touchstone::optimized {
namespace {

KernelGrade grade_of(const Step& step) {
  if (step.ran_class() == KernelClass::reference) return KernelGrade::reference;
  if (step.kernel_class == KernelClass::view) return KernelGrade::view;
  return step.generic ? KernelGrade::generic : KernelGrade::tuned;
}

bool is_slow(KernelGrade grade) {
  return grade == KernelGrade::reference || grade == KernelGrade::generic;
}

// Adds the time of a node in another plan; a reference kernel in any plan is shown.
void merge(NodePlacement& from, NodePlacement& to) {
  const double sum = from.microseconds + to.microseconds;
  if (from.grade == KernelGrade::reference && to.grade != from.grade) to = std::move(from);
  to.microseconds = sum;
}

}  // namespace

std::string label_of(const Node& node) {
  return "'" + (node.name.empty() ? std::to_string(node.index) : node.name) + "' (" + node.op + ")";
}

std::vector<NodePlacement> place_nodes(const AnalyzedGraph& graph,
                                       const std::vector<std::unique_ptr<Step>>& steps,
                                       const std::vector<double>& spent, const Limits& limits) {
  std::map<Index, std::size_t> step_of;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    for (const Index node : steps[k]->nodes) step_of.emplace(node, k);
  }
  std::vector<NodePlacement> rows;
  for (std::size_t k = 0; k < graph.nodes().size(); ++k) {
    const AnalyzedNode& fact = graph.nodes()[k];
    NodePlacement row;
    row.node = label_of(*fact.node);
    if (const Signature* const signature = fact.node->signature)
      row.version =
          operator_name(signature->domain, signature->op) + "-" + std::to_string(signature->since);
    const auto found = step_of.find(static_cast<Index>(k));
    if (found == step_of.end()) {
      row.grade = fact.folded ? KernelGrade::folded : KernelGrade::view;
      rows.push_back(std::move(row));
      continue;
    }
    Step& step = *steps[found->second];
    row.grade = grade_of(step);
    row.kernel_class = step.ran_class();
    if (row.grade != KernelGrade::view) row.kernel = step.ran();
    if (is_slow(row.grade))
      row.why =
          step.fallback.empty() ? why_slow(graph, static_cast<Index>(k), limits) : step.fallback;
    if (step.nodes.front() == static_cast<Index>(k)) row.microseconds = spent[found->second];
    const std::size_t own = rows.size();
    const std::vector<std::pair<std::string, Plan*>> plans = step.plans();
    if (row.why.empty() && plans.empty() && !subgraphs_of(*fact.node).empty())
      row.why = "a run chooses the kernels of its subgraphs";
    rows.push_back(std::move(row));
    std::unordered_map<std::string, std::size_t> seen;  // a subgraph has a plan for each shape
    for (const auto& [name, plan] : plans) {
      for (NodePlacement& inner : plan->kernels()) {
        rows[own].microseconds -= inner.microseconds;
        inner.node = rows[own].node + " " + name + ": " + inner.node;
        const auto [at, is_new] = seen.try_emplace(inner.node, rows.size());
        if (is_new)
          rows.push_back(std::move(inner));
        else
          merge(inner, rows[at->second]);
      }
    }
    rows[own].microseconds = std::max(rows[own].microseconds, 0.0);
  }
  return rows;
}

}  // namespace touchstone::optimized
