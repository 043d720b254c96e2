// Plans nodes on kernel families, whose outputs of 8 bits may be in the plan's memory too.
#include <algorithm>

#include "optimized/lowering/fused.h"
#include "optimized/plan/builder.h"
#include "reference/lists.h"

namespace touchstone {

// Also places an output of 8 bits, if all readers are families that keep no reference to it.
Index Builder::place_family_output(Index value) {
  const auto is_placed = [&](const AnalyzedValue& fact) {
    return !fact.output && fact.shape && (fact.is(Type::uint8) || fact.is(Type::int8)) &&
           std::all_of(fact.users.begin(), fact.users.end(), [&](Index user) {
             const Group* const group = group_of_[static_cast<std::size_t>(user)];
             return group != nullptr && (group->kind == GroupKind::fused_family ||
                                         (group->family && group->family->places_bytes));
           });
  };
  if (value == no_value || !is_placed(graph_.value(value))) return place_output(value);
  bytes_.insert(value);
  tensors[value] = new_buffer(ceil_div(count(shape(value)), 4));
  touched_.push_back(tensors.at(value));
  return tensors.at(value);
}

void Builder::on_family(Index node, const KernelFamily& family) {
  tell_tensors(node);
  std::vector<Index> buffers;
  for (const Index value : graph_.node(node).outputs) buffers.push_back(place_family_output(value));
  add(family.step(graph_, node, std::move(buffers)), {node});
}

void Builder::on_fused_family(const Group& group) {
  const Index last = group.nodes.back();
  tell_tensors(group.reads);
  std::vector<Index> buffers;
  for (const Index value : graph_.node(last).outputs) buffers.push_back(place_family_output(value));
  add(group.fused->step(graph_, last, std::move(buffers)), group.nodes);
}

}  // namespace touchstone
