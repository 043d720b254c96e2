// Primitives of the notation over Bounded; spec/primitives.yaml gives the error bound of each.
#pragma once

#include "reference/semantics/bounded.h"

namespace touchstone::prim {

Bounded exp(const Bounded& x);
Bounded log(const Bounded& x);
Bounded sqrt(const Bounded& x);
Bounded tanh(const Bounded& x);
Bounded sigmoid(const Bounded& x);   // 1 / (1 + exp(-x)), without internal overflow
Bounded softplus(const Bounded& x);  // log(1 + exp(x)), likewise
Bounded erf(const Bounded& x);
Bounded sin(const Bounded& x);
Bounded cos(const Bounded& x);
Bounded tan(const Bounded& x);
Bounded asin(const Bounded& x);
Bounded acos(const Bounded& x);
Bounded atan(const Bounded& x);
Bounded sinh(const Bounded& x);
Bounded cosh(const Bounded& x);
Bounded asinh(const Bounded& x);
Bounded acosh(const Bounded& x);
Bounded atanh(const Bounded& x);
Bounded reciprocal(const Bounded& x);
Bounded pow(const Bounded& base, const Bounded& exponent);
Bounded fmod(const Bounded& a, const Bounded& b);  // the sign of a, as in C

// Exact primitives: the argument's error passes through.
Bounded abs(const Bounded& x);
Bounded maximum(const Bounded& a, const Bounded& b);  // NaN if either is
Bounded minimum(const Bounded& a, const Bounded& b);

// Step functions: if the interval straddles a jump, the result is the set of reachable values.
Bounded sign(const Bounded& x);
Bounded floor(const Bounded& x);
Bounded ceil(const Bounded& x);
Bounded round_even(const Bounded& x);
Bounded truncate(const Bounded& x);

}  // namespace touchstone::prim
