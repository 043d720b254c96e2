// Proves shapes by one pass over the model with the fed sizes.
#include "reference/proved_shapes.h"

#include "reference/shape_walk.h"

namespace touchstone {
namespace {

constexpr Index most_steps = 4'000'000;  // node visits; later values stay unknown

}  // namespace

ProvedShapes prove_shapes(const Model& model, const std::map<std::string, Shape>& feeds,
                          const Limits& limits) {
  Survey survey(model, limits, most_steps);
  const Walked walked = proving_walk(survey, feeds);
  ProvedShapes proved;
  for (const Broken& broken : walked.broken) {
    if (broken.node >= 0) proved.broken.insert(broken.node);
    proved.breaks_surely = proved.breaks_surely || broken.surely_run;
  }
  for (std::size_t row = 0; row < survey.rows.size(); ++row) {
    const ShapeRow& from = survey.rows[row];
    if (from.path.empty())
      proved.values.insert_or_assign(from.name, ProvedValue{from.type, walked.shapes[row]});
  }
  return proved;
}

}  // namespace touchstone
