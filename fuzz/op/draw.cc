// The first attempt makes several changes, later ones fewer; the last one takes a line as it is.
#include "fuzz/op/draw.h"

#include <array>

#include "core/error.h"
#include "fuzz/op/solver.h"
#include "fuzz/op/vary.h"

namespace touchstone::fuzz {
namespace {

using Change = void (Variation::*)();
constexpr std::array<Change, 10> changes{
    &Variation::types,    &Variation::sizes,     &Variation::sizes,     &Variation::sizes,
    &Variation::ranks,    &Variation::attribute, &Variation::attribute, &Variation::inputs,
    &Variation::contents, &Variation::sizes};
constexpr std::array<int, 8> numbers_of_changes{6, 4, 3, 2, 1, 1, 0, -1};

std::set<std::size_t> computed_ports(const Signature& signature, const Program& program) {
  std::set<std::size_t> ports;
  for (std::size_t k = 0; k < signature.inputs.size(); ++k) {
    for (const std::string& name : program.computed)
      if (name == signature.inputs[k].name || name == "in_" + std::string(signature.inputs[k].name))
        ports.insert(k);
  }
  return ports;
}

// Changes a line of the suite and solves. Returns false if the solver gives up.
bool draw_draft(const Signature& signature, const Knowledge& known, const Bounds& bounds,
                Random& random, Drawn& drawn) {
  const Seeds::Version& version = known.seeds.of(signature);
  const Program& program = known.programs.of(signature);
  drawn.draft = random.pick(version.valid);
  if (drawn.changes < 0) return true;
  Variation variation(drawn.draft, random, version, computed_ports(signature, program),
                      bounds.elements);
  for (int k = 0; k < drawn.changes; ++k) (variation.*random.pick(changes))();
  if (!Solver(drawn.draft, program, version, variation.pinned(), random).solve()) return false;
  variation.data();
  variation.declared();
  return true;
}

}  // namespace

std::optional<Trial> try_draft(const Draft& draft, const Bounds& bounds, suites::LineModel& made) {
  try {
    Limits limits = Limits::trusted();
    limits.elements = bounds.elements;
    const LimitsScope scope(limits);
    made = suites::model_of(suites::parse_line(text(draft)));
    return try_case(made, bounds);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<Drawn> draw_valid(const Signature& signature, const Knowledge& known,
                                const Bounds& bounds, Random& random) {
  const Seeds::Version& version = known.seeds.of(signature);
  if (version.valid.empty()) return std::nullopt;
  Drawn drawn;
  for (const int most : numbers_of_changes) {
    ++drawn.attempts;
    drawn.changes = most > 0 ? 1 + static_cast<int>(random.below(most)) : most;
    if (!draw_draft(signature, known, bounds, random, drawn)) continue;
    const std::optional<Trial> found = try_draft(drawn.draft, bounds, drawn.made);
    if (found && found->valid) return drawn;
  }
  return std::nullopt;
}

std::optional<Drawn> draw_refused(const Signature& signature, const Knowledge& known,
                                  const Bounds& bounds, Random& random) {
  const Seeds::Version& version = known.seeds.of(signature);
  const Program& program = known.programs.of(signature);
  Drawn drawn;
  for (int k = 0; k < 8; ++k) {
    ++drawn.attempts;
    const bool of_rule = !program.rules.empty() && !version.valid.empty() &&
                         (version.refused.empty() || !random.one_in(3));
    if (of_rule) {
      const NamedTerm& rule = random.pick(program.rules);
      drawn.changes = static_cast<int>(random.below(3));
      if (!draw_draft(signature, known, bounds, random, drawn)) continue;
      Solver solver(drawn.draft, program, version, {}, random);
      if (!solver.breach(rule.term)) continue;
      drawn.draft.refused =
          std::string(signature.op) + "-" + std::to_string(signature.since) + "/" + rule.name;
    } else {
      if (version.refused.empty()) return std::nullopt;
      drawn.draft = random.pick(version.refused);
      Variation variation(drawn.draft, random, version, {}, bounds.elements);
      if (k < 4 && !random.one_in(3)) variation.types();
      if (k < 4) variation.data();
    }
    const std::optional<Trial> found = try_draft(drawn.draft, bounds, drawn.made);
    if (found && !found->valid && found->rule == drawn.draft.refused) return drawn;
  }
  return std::nullopt;
}

}  // namespace touchstone::fuzz
