// `sum k in 0..n: independent(x[k])`: a sum of terms with independent errors. Native and exact
// semantics add them like any others; for bounded see reference/semantics/independent.h.
#pragma once

#include "reference/number.h"

namespace touchstone {

template <class C>
struct Independent : Sum<C> {};

}  // namespace touchstone
