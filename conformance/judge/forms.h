// Bounded semantics of an operator's alternative formulas (`also:` of an entry).
#pragma once

#include <vector>

#include "reference/semantics/extended_call.h"

namespace touchstone::judge {

// Returns the bounded outputs by one formula: 0 is the entry's own, k its `also[k - 1]`. The caller
// holds the BoundedScope.
std::vector<ExtendedOutput<Bounded>> outputs_by(const ExtendedEntry& entry, std::size_t formula,
                                                ExtendedCall<Bounded> call);

// Returns the bounded outputs of a call; in classes other than strict, the hull over all formulas
// of the entry, for hidden values of a region. The caller holds the BoundedScope.
std::vector<ExtendedOutput<Bounded>> bounded_outputs(const ExtendedEntry& entry,
                                                     const ExtendedCall<Bounded>& call, Class cls);

}  // namespace touchstone::judge
