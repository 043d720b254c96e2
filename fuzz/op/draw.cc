// The first attempt makes several changes, later ones fewer; the last one takes a line as it is.
#include "fuzz/op/draw.h"

#include <array>

#include "core/error.h"
#include "fuzz/op/vary.h"

namespace touchstone::fuzz {
namespace {

using Change = void (Variation::*)();
constexpr std::array<Change, 10> changes{
    &Variation::types,    &Variation::sizes,     &Variation::sizes,     &Variation::sizes,
    &Variation::ranks,    &Variation::attribute, &Variation::attribute, &Variation::inputs,
    &Variation::contents, &Variation::sizes};
constexpr std::array<int, 8> numbers_of_changes{4, 3, 2, 2, 1, 1, 0, -1};

}  // namespace

std::optional<Outcome> tried(const Draft& draft, const Bounds& bounds, LineModel& made) {
  try {
    Limits limits = Limits::trusted();
    limits.elements = bounds.elements;
    const LimitsScope scope(limits);
    made = model_of(parse_line(text(draft)));
    return outcome_of(made, bounds);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<Drawn> draw_valid(const Signature& signature, const Seeds& seeds,
                                const Bounds& bounds, Random& random) {
  const Seeds::Version& version = seeds.of(signature);
  if (version.valid.empty()) return std::nullopt;
  const std::set<std::size_t> computed;
  Drawn drawn;
  for (const int most : numbers_of_changes) {
    ++drawn.attempts;
    drawn.draft = random.pick(version.valid);
    drawn.changes = most > 0 ? 1 + static_cast<int>(random.below(most)) : most;
    Variation variation(drawn.draft, random, version, computed, bounds.elements);
    for (int k = 0; k < drawn.changes; ++k) (variation.*random.pick(changes))();
    if (most >= 0) {
      variation.data();
      variation.declared();
    }
    const std::optional<Outcome> found = tried(drawn.draft, bounds, drawn.made);
    if (found && found->valid) return drawn;
  }
  return std::nullopt;
}

std::optional<Drawn> draw_refused(const Signature& signature, const Seeds& seeds,
                                  const Bounds& bounds, Random& random) {
  const Seeds::Version& version = seeds.of(signature);
  if (version.refused.empty()) return std::nullopt;
  const std::set<std::size_t> computed;
  Drawn drawn;
  for (int k = 0; k < 4; ++k) {
    ++drawn.attempts;
    drawn.draft = random.pick(version.refused);
    const std::string rule = drawn.draft.refused;
    Variation variation(drawn.draft, random, version, computed, bounds.elements);
    if (k < 2 && !random.one_in(3)) variation.types();
    if (k < 2) variation.data();
    const std::optional<Outcome> found = tried(drawn.draft, bounds, drawn.made);
    if (found && !found->valid && found->rule == rule) return drawn;
  }
  return std::nullopt;
}

}  // namespace touchstone::fuzz
