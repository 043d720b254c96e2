// Plans nodes on kernel families, alone or several as one step, and on reference kernels.
#include "model/scopes.h"
#include "optimized/lowering/fused.h"
#include "optimized/plan/builder.h"

namespace touchstone::optimized {

void Builder::on_family(Index node, const KernelFamily& family) {
  families.insert(&family);
  if (family.kernel_class == KernelClass::view) {
    const std::vector<Index> none(graph_.node(node).outputs.size(), no_value);
    return add_sharing(node, family.step(graph_, node, none));
  }
  tell_tensors(node);
  add(family.step(graph_, node, place_outputs(node, &AnalyzedValue::placeable)), {node});
}

void Builder::on_reference(Index node) { add_sharing(node, reference_step(graph_, node)); }

// Adds a step whose outputs may share the memory of its inputs: a sequence that holds an input, or
// the input itself.
void Builder::add_sharing(Index node, std::unique_ptr<Step> step) {
  tell_tensors(node);
  for (const std::string& name : names_used(*graph_.node(node).node)) {
    const auto found = tensors.find(graph_.find(name));
    if (found != tensors.end()) shared_.push_back(found->second);
  }
  for (const Index value : graph_.node(node).outputs) {
    if (value != no_value) last_use[value] = static_cast<Index>(steps.size());
  }
  add(std::move(step), {node});
}

void Builder::on_fused_family(const Group& group) {
  const Index last = group.nodes.back();
  fused_families.insert(group.fused);
  tell_tensors(group.reads);
  add(group.fused->step(graph_, last, place_outputs(last, &AnalyzedValue::placeable)), group.nodes);
}

}  // namespace touchstone::optimized
