// Outputs that hold a choice, such as the label of the best class: what the definition gives where,
// at each comparison that its bounds leave undecided, it takes the branch that the target's own
// answer shows. The judge holds them to it exactly.
#pragma once

#include <vector>

#include "model/schema.h"
#include "reference/readings/wide_call.h"

namespace touchstone {

// One value an output; absent for those that have a wide reading.
using Follow = std::vector<Value> (*)(const WideCall<Bounded>& call);

Follow find_follow(const Signature& signature);  // null: the operator makes no such choice

}  // namespace touchstone
