// Plans nodes on kernel families, alone or several as one step.
#include "optimized/lowering/fused.h"
#include "optimized/plan/builder.h"

namespace touchstone {

void Builder::on_family(Index node, const KernelFamily& family) {
  tell_tensors(node);
  add(family.step(graph_, node, place_outputs(node, &AnalyzedValue::placeable)), {node});
}

void Builder::on_fused_family(const Group& group) {
  const Index last = group.nodes.back();
  tell_tensors(group.reads);
  add(group.fused->step(graph_, last, place_outputs(last, &AnalyzedValue::placeable)), group.nodes);
}

}  // namespace touchstone
