// The primitives of the notation over Bounded: spec/primitives.yaml says how far each may be off.
#pragma once

#include "reference/readings/bounded.h"

namespace touchstone::prim {

Bounded exp(const Bounded& x);
Bounded log(const Bounded& x);
Bounded sqrt(const Bounded& x);
Bounded tanh(const Bounded& x);
Bounded sigmoid(const Bounded& x);   // 1 / (1 + exp(-x)), without overflow inside
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

// Exact ones: an error of the argument passes through.
Bounded abs(const Bounded& x);
Bounded maximum(const Bounded& a, const Bounded& b);  // NaN if either is
Bounded minimum(const Bounded& a, const Bounded& b);

// Jumps: where the interval straddles one, the set of what is reached.
Bounded sign(const Bounded& x);
Bounded floor(const Bounded& x);
Bounded ceil(const Bounded& x);
Bounded round_even(const Bounded& x);
Bounded truncate(const Bounded& x);

}  // namespace touchstone::prim
