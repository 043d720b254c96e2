// Groups of nodes that one step of a fused family computes.
#include <algorithm>

#include "optimized/lowering/fused.h"
#include "optimized/plan/groups.h"

namespace touchstone::optimized {

std::vector<Group> fused_groups(const AnalyzedGraph& graph, std::vector<bool>& taken) {
  std::vector<Group> made;
  for (Index last = 0; last < static_cast<Index>(graph.nodes().size()); ++last) {
    for (const FusedFamily* family : fused_families()) {
      std::optional<FusedNodes> found = family->takes(graph, last);
      const auto is_taken = [&](Index node) { return taken[static_cast<std::size_t>(node)]; };
      if (!found || std::any_of(found->nodes.begin(), found->nodes.end(), is_taken)) continue;
      for (const Index node : found->nodes) taken[static_cast<std::size_t>(node)] = true;
      Group group;
      group.kind = GroupKind::fused_family;
      group.nodes = std::move(found->nodes);
      group.reads = std::move(found->reads);
      group.fused = family;
      made.push_back(std::move(group));
      break;
    }
  }
  return made;
}

}  // namespace touchstone::optimized
