// `sum k in 0..n: independent(x[k])`: a sum of terms that err independently of each other. Native
// and exact numbers add them as any others; bounded ones: reference/readings/independent.h.
#pragma once

#include "reference/number.h"

namespace touchstone {

template <class C>
struct Independent : Sum<C> {};

}  // namespace touchstone
