// Bounded readings of an operator's alternative formulas (`also:` of an entry).
#pragma once

#include <vector>

#include "reference/readings/wide_call.h"

namespace touchstone {

// The bounded outputs by one formula: 0 is the entry's own, k its `also[k - 1]`. The caller holds
// the BoundedScope.
std::vector<WideOutput<Bounded>> outputs_by(const WideEntry& entry, std::size_t formula,
                                            WideCall<Bounded> call);

// The bounded outputs of a call; in other classes than strict, the hull of what any of the entry's
// formulas allows: for intermediate values of a region without taps. The caller holds the
// BoundedScope.
std::vector<WideOutput<Bounded>> bounded_outputs(const WideEntry& entry,
                                                 const WideCall<Bounded>& call, Class cls);

}  // namespace touchstone
