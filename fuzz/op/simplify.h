// Simpler drafts of a draft: fewer inputs and attributes, smaller sizes, plainer data.
#pragma once

#include <vector>

#include "fuzz/op/draw.h"

namespace touchstone::fuzz {

// Larger for a draft that is harder to read. Every simplification lowers it.
Index complexity(const Draft& draft);

// Candidates, boldest first. They may break rules.
std::vector<Draft> simplifications(const Draft& draft);

// Solves a candidate. Nothing if it is not simpler than `before`, is not valid, or is not refused
// by the rule that refuses `before`.
std::optional<Draft> solved_simpler(const Draft& candidate, const Draft& before,
                                    const Knowledge& known, const Bounds& bounds);

}  // namespace touchstone::fuzz
