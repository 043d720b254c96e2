// Cases of operators that run a body: If, Loop, Scan, SequenceMap. A line cannot hold a graph, so
// such a case is built from a template and its identity names the template's choices.
#pragma once

#include <optional>

#include "fuzz/case.h"
#include "fuzz/op/trial.h"
#include "fuzz/random.h"

namespace touchstone::fuzz {

// True if the version holds a required graph for which there is a template.
bool has_body_template(const Signature& signature);

// Draws a valid case of such a version. Nothing if the draw was beyond the bounds.
std::optional<Case> draw_with_body(const Signature& signature, const Bounds& bounds,
                                   Random& random);

}  // namespace touchstone::fuzz
