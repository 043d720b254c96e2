// Double-double arithmetic: unevaluated sums of two doubles, about 104 bits at the cost of a few
// additions. Error-free transformations after Dekker and Knuth. They hold unless something
// overflows or a product is below 2^-960; callers check the result.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace touchstone::dd {

struct Pair {
  double hi = 0, lo = 0;
};

inline Pair quick_two_sum(double a, double b) {  // Requires |a| >= |b|
  const double s = a + b;
  return {s, b - (s - a)};
}

inline Pair two_sum(double a, double b) {
  const double s = a + b;
  const double t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}

inline Pair two_product(double a, double b) {
  const double p = a * b;
#ifdef __FMA__
  return {p, std::fma(a, b, -p)};
#else
  constexpr std::uint64_t low_half = (std::uint64_t{1} << 27) - 1;
  // Numbers of at most 26 bits, as all floats are, have an exact product.
  if (((std::bit_cast<std::uint64_t>(a) | std::bit_cast<std::uint64_t>(b)) & low_half) == 0)
    return {p, 0};
  constexpr double split = 134217729;  // 2^27 + 1
  const double sa = split * a, sb = split * b;
  const double ah = sa - (sa - a), bh = sb - (sb - b);
  const double al = a - ah, bl = b - bh;
  return {p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
#endif
}

inline Pair add(Pair a, Pair b) {
  Pair s = two_sum(a.hi, b.hi);
  const Pair t = two_sum(a.lo, b.lo);
  s = quick_two_sum(s.hi, s.lo + t.hi);
  return quick_two_sum(s.hi, s.lo + t.lo);
}

inline Pair multiply(Pair a, Pair b) {
  const Pair p = two_product(a.hi, b.hi);
  return quick_two_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

inline Pair divide(Pair a, Pair b) {
  const double q = a.hi / b.hi;
  const Pair p = two_product(q, b.hi);
  const double rest = ((a.hi - p.hi) - p.lo) + (a.lo - q * b.lo);
  return quick_two_sum(q, rest / b.hi);
}

}  // namespace touchstone::dd
