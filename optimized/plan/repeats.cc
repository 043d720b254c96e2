// Recognizes a resampling that repeats each element a whole number of times, by runs of the
// reference on one dimension at a time.
#include "core/error.h"
#include "optimized/plan/copies.h"
#include "optimized/plan/groups.h"

namespace touchstone::optimized {
namespace {

// True if a node that treats each dimension separately repeats each element `times` along this
// axis. Evaluated with all other dimensions set to 1.
bool repeats_along(const AnalyzedGraph& graph, const AnalyzedNode& fact, Index axis,
                   const IndexVector& times) {
  Shape from(times.size(), 1), to = times;
  from[axis] = (*graph.value(fact.inputs[0]).shape)[axis];
  to[axis] *= from[axis];
  const Index behind = count(tail(times, axis + 1));
  try {
    const std::vector<Value> made = run_on_names(graph, fact, 0, &from, &to);
    const Tensor& names = made[0].tensor();
    if (names.shape() != to) return false;
    for (Index k = 0; k < names.size(); ++k) {
      const Index at = k / behind % to[axis] / times[axis];
      if (names.data<double>()[k] != static_cast<double>(1 + at)) return false;
    }
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::optional<Repeat> repeats(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  if (fact.node->signature->form != "resample" || fact.outputs.size() != 1 ||
      !moves_floats(graph, node))
    return std::nullopt;
  const Shape& from = *graph.value(fact.inputs[0]).shape;
  const Shape& to = *graph.value(fact.outputs[0]).shape;
  const Index rank = from.size();
  if ((rank != 3 && rank != 4) || to.size() != rank || head(from, 2) != head(to, 2) || from == to ||
      count(from) == 0 || count(to) == 0)
    return std::nullopt;
  Repeat times;
  IndexVector all(rank, 1);
  for (Index k = 2; k < rank; ++k) {
    if (to[k] % from[k] != 0) return std::nullopt;
    all[k] = to[k] / from[k];
  }
  times.columns = all.back();
  if (rank == 4) times.rows = all[2];
  for (Index axis = 0; axis < rank; ++axis) {
    if (!repeats_along(graph, fact, axis, all)) return std::nullopt;
  }
  return times;
}

}  // namespace touchstone::optimized
