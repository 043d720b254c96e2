// Outputs that hold a choice, such as the label of the best class. Recomputes them, taking the
// target's branch at each comparison that the bounds leave undecided. The judge then requires
// equality.
#pragma once

#include <vector>

#include "model/schema.h"
#include "reference/semantics/extended_call.h"

namespace touchstone {

// One value per output; absent for those with an extended precision result.
using Follow = std::vector<Value> (*)(const ExtendedCall<Bounded>& call);

Follow find_follow(const Signature& signature);  // null: the operator makes no such choice

}  // namespace touchstone
