// Draws a valid or a refused draft of an operator version.
#pragma once

#include <optional>
#include <string>

#include "conformance/suites/line.h"
#include "fuzz/op/draft.h"
#include "fuzz/op/program.h"
#include "fuzz/op/seeds.h"
#include "fuzz/op/trial.h"
#include "fuzz/random.h"

namespace touchstone::fuzz {

// All that draws start from.
struct Knowledge {
  explicit Knowledge(const std::filesystem::path& lines) : seeds(lines) {}
  Seeds seeds;
  Programs programs;
};

struct Drawn {
  Draft draft;
  suites::LineModel made;
  int attempts = 0;  // 1: the first change was valid as solved
  int changes = 0;   // that the valid attempt made; -1: a line of the suite as it is
};

// Draws a valid case: changes a line of the suite, solves, and runs it on the reference. Attempts
// that end refused are repeated with fewer changes. Nothing if the version has no valid line.
std::optional<Drawn> draw_valid(const Signature& signature, const Knowledge& known,
                                const Bounds& bounds, Random& random);

// Draws a case that exactly one rule refuses. Nothing if no attempt gave one.
std::optional<Drawn> draw_refused(const Signature& signature, const Knowledge& known,
                                  const Bounds& bounds, Random& random);

// Trial of a draft; nothing if its line is malformed for this version. `made` gets its model.
std::optional<Trial> try_draft(const Draft& draft, const Bounds& bounds, suites::LineModel& made);

}  // namespace touchstone::fuzz
