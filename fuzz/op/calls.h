// RapidCheck generators of calls of operators. Shrinking proposes simpler drafts, solves each
// again, and keeps those that are valid, or refused by the same rule.
#pragma once

#include <rapidcheck.h>

#include <functional>
#include <ostream>

#include "fuzz/op/draw.h"

namespace touchstone::fuzz {

// The draft with its simplifications. `known` must outlive it.
rc::Shrinkable<Draft> shrinkable_call(const Draft& draft, const Knowledge& known,
                                      const Bounds& bounds);

// Valid calls of versions that match a shell pattern. `known` must outlive it.
rc::Gen<Draft> valid_calls(const Knowledge& known, const std::string& versions,
                           const Bounds& bounds);

// Follows the first simplification for which `fails` holds, until none does, as RapidCheck does.
// Returns the last draft.
Draft shrink(const Draft& draft, const Knowledge& known, const Bounds& bounds,
             const std::function<bool(const Draft&)>& fails);

void showValue(const Draft& draft, std::ostream& out);  // NOLINT: a name that RapidCheck looks up

}  // namespace touchstone::fuzz
