// What an operator's forms allow together.
#pragma once

#include <vector>

#include "reference/readings/wide_call.h"

namespace touchstone {

// The bounded outputs of a call; in other classes than strict, the hull of what any of the entry's
// forms allows. The caller holds the BoundedScope.
std::vector<WideOutput<Bounded>> bounded_outputs(const WideEntry& entry, WideCall<Bounded> call,
                                                 Class cls);

}  // namespace touchstone
