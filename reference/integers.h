// Integer primitives of BitShift, the bitwise operators and remainders. A narrow type computes in
// 64 bits (reference/bind.h), so its result is truncated to the type's bits when stored.
#pragma once

#include <cmath>

#include "reference/number.h"
#include "reference/primitives.h"

namespace touchstone::prim {

template <class T>
Modular<T> bit_and(Modular<T> a, Modular<T> b) {
  return Modular<T>::wrap(a.u() & b.u());
}
template <class T>
Modular<T> bit_or(Modular<T> a, Modular<T> b) {
  return Modular<T>::wrap(a.u() | b.u());
}
template <class T>
Modular<T> bit_xor(Modular<T> a, Modular<T> b) {
  return Modular<T>::wrap(a.u() ^ b.u());
}
template <class T>
Modular<T> bit_not(Modular<T> a) {
  return Modular<T>::wrap(~a.u());
}

// A shift by the type's width or more clears every bit.
template <class T>
Modular<T> shift_left(Modular<T> a, Modular<T> n) {
  return n.u() >= 8 * sizeof(T) ? Modular<T>(0) : Modular<T>::wrap(a.u() << n.u());
}
template <class T>
Modular<T> shift_right(Modular<T> a, Modular<T> n) {
  return n.u() >= 8 * sizeof(T) ? Modular<T>(0) : Modular<T>::wrap(a.u() >> n.u());
}

template <class T>
Modular<T> sign(Modular<T> x) {
  return Modular<T>(static_cast<T>((x.v > 0) - (x.v < 0)));
}

// Remainder of a division rounded towards zero: has the sign of a.
template <class T>
Modular<T> fmod(Modular<T> a, Modular<T> b) {
  return a - a / b * b;
}
template <class C>
requires std::is_floating_point_v<C> C fmod(C a, C b) { return std::fmod(a, b); }
// Remainder of a division rounded down: has the sign of b.
template <class T>
Modular<T> mod_floor(Modular<T> a, Modular<T> b) {
  const Modular<T> rest = fmod(a, b);
  return rest.v != 0 && (rest.v < 0) != (b.v < 0) ? rest + b : rest;
}

}  // namespace touchstone::prim
