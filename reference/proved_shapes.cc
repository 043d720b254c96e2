// Proves shapes by one pass over the model with the fed sizes.
#include "reference/proved_shapes.h"

#include "reference/shape_walk.h"

namespace touchstone {
namespace {

constexpr Index max_steps = 4'000'000;  // node visits; later values stay unknown

}  // namespace

ProvedShapes prove_shapes(const Model& model, const std::map<std::string, Shape>& feeds,
                          const Limits& limits) {
  ShapeInference state(model, limits, max_steps);
  InferredRun walked = proving_walk(state, feeds);
  ProvedShapes proved;
  proved.conditions = std::move(walked.conditions);
  for (const Violation& violation : walked.violations) {
    if (violation.node >= 0) proved.violations.insert(violation.node);
    proved.breaks_surely = proved.breaks_surely || violation.surely_run;
  }
  for (std::size_t row = 0; row < state.rows.size(); ++row) {
    const ShapeRow& from = state.rows[row];
    if (from.path.empty())
      proved.values.insert_or_assign(from.name, ProvedValue{from.type, walked.shapes[row]});
  }
  return proved;
}

}  // namespace touchstone
