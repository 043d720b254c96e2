// Finds the operators and the kernel families of a model.
#include "optimized/bundle.h"

#include <algorithm>

#include "core/error.h"
#include "model/place.h"
#include "model/scopes.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/fused.h"
#include "optimized/plan/builder.h"
#include "optimized/session_model.h"

namespace touchstone::optimized {
namespace {

// Adds the operators of nodes, of the functions that they call and of their subgraphs.
void add_operators(const std::vector<Node>& nodes, Bundled& made) {
  for (const Node& node : nodes) {
    if (node.signature != nullptr)
      made.operators.insert(operator_name(node.signature->domain, node.signature->op) + "-" +
                            std::to_string(node.signature->since));
    if (node.function) {
      made.all_families = true;
      add_operators(node.function->nodes, made);
    }
    for (const Subgraph& inner : subgraphs_of(node)) {
      made.all_families = true;
      add_operators(inner.graph->nodes, made);
    }
  }
}

template <class Families>
std::string_view name_in(const Families& all, std::span<const std::string_view> names,
                         const auto* family) {
  return names[static_cast<std::size_t>(std::find(all.begin(), all.end(), family) - all.begin())];
}

// Adds what the steps of a plan take. Families call what they like, and subgraphs are planned at
// run time.
void add_steps(const Builder& builder, Bundled& made) {
  for (const KernelFamily* const family : builder.families)
    made.families.emplace(name_in(kernel_families(), family_names(), family));
  for (const FusedFamily* const family : builder.fused_families)
    made.fused_families.emplace(name_in(fused_families(), fused_family_names(), family));
  made.components = builder.components;
  if (made.families.empty() && made.fused_families.empty() && !made.all_families) return;
  using enum Component;
  made.components.insert({matmul, few_columns, matrix_vector, grouped, winograd, narrow});
  if (made.all_families) made.components.insert(all_components.begin(), all_components.end());
}

// There is no plan: every family that may take a node.
void add_families(const AnalyzedGraph& graph, Bundled& made) {
  for (Index k = 0; k < std::ssize(graph.nodes()); ++k) {
    const AnalyzedNode& fact = graph.node(k);
    for (const FusedFamily* const family : fused_families()) {
      if (family->takes(graph, k))
        made.fused_families.emplace(name_in(fused_families(), fused_family_names(), family));
    }
    if (fact.node->signature == nullptr || fact.broken || fact.folded) continue;
    for (const KernelFamily* const family : kernel_families()) {
      if (family->takes(graph, k))
        made.families.emplace(name_in(kernel_families(), family_names(), family));
    }
  }
}

}  // namespace

Bundled bundled(Model model, const SessionOptions& options, bool planned) {
  model = with_sizes(std::move(model), options.dims);
  const std::optional<transform::FedShapes> shapes = only_shapes(model.graph);
  std::vector<transform::FedShapes> fed;
  if (shapes) fed.push_back(*shapes);
  ThreadPool pool(1);
  // No assumption of the passes can be verified later, so none is made.
  const auto prepared = optimized_model(std::move(model), options, fed, !shapes, false, pool);
  if (!prepared->assumed.empty())
    BUG("passes made assumptions about sizes, which no run of a bundle verifies");
  Bundled made;
  made.model = prepared->model;
  add_operators(made.model.graph.nodes, made);
  PlanOptions wanted;
  wanted.limits = options.limits;
  if (shapes && planned) {
    wanted.change = [&](Builder& builder) { add_steps(builder, made); };
    Plan(made.model, *shapes, 1, wanted);
  } else {
    add_families(AnalyzedGraph(made.model, shapes.value_or(transform::FedShapes()), wanted), made);
    made.components.insert(all_components.begin(), all_components.end());
  }
  return made;
}

}  // namespace touchstone::optimized
