// Propagates an argument's error through a primitive: e * max |f'| over [v - e, v + e], poles and
// extrema included. Arguments are finite, e > 0. The callers' margin covers the double functions'
// own error of an ulp.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "reference/semantics/bounded.h"

namespace touchstone::slopes {

// A propagated error bound.
struct Carried {
  double e;
  std::uint8_t specials = 0;  // also valid, since the interval leaves the domain
};

constexpr double endless = std::numeric_limits<double>::infinity();

inline double nearest_zero(double v, double e) { return std::fmax(0, std::abs(v) - e); }
inline double farthest_zero(double v, double e) { return std::abs(v) + e; }

inline Carried exp(double v, double e) { return {e * std::exp(v + e)}; }

inline Carried log(double v, double e) {
  const double left = v - e;
  if (left > 0) return {e / left};
  const std::uint8_t nan = left < 0 ? special::nan : 0;
  return {endless, static_cast<std::uint8_t>(nan | special::minus_infinity)};
}

inline Carried sqrt(double v, double e) {
  const double root = std::sqrt(std::fmax(v, 0)), left = v - e;
  if (left >= 0) return {e / (root + std::sqrt(left))};
  return {std::fmax(root, std::sqrt(std::fmax(v + e, 0)) - root), special::nan};
}

inline Carried tanh(double v, double e) {
  const double c = std::cosh(nearest_zero(v, e));
  return {std::fmin(e / (c * c), 1 + std::abs(std::tanh(v)))};
}

inline Carried sigmoid(double v, double e) {
  const double m = std::exp(-nearest_zero(v, e));
  return {std::fmin(e * m / ((1 + m) * (1 + m)), 1)};
}

inline Carried softplus(double v, double e) {
  const double r = v + e;
  return {e * (r >= 0 ? 1 / (1 + std::exp(-r)) : std::exp(r) / (1 + std::exp(r)))};
}

inline Carried erf(double v, double e) {
  const double m = nearest_zero(v, e);
  return {std::fmin(e * 1.1283791670955126 * std::exp(-m * m), 2)};
}

inline Carried sin(double v, double e) {
  return {std::fmin(2, e * std::fmin(1, std::abs(std::cos(v)) + e))};
}
inline Carried cos(double v, double e) {
  return {std::fmin(2, e * std::fmin(1, std::abs(std::sin(v)) + e))};
}

inline Carried tan(double v, double e) {
  const double c = std::abs(std::cos(v)) - e;
  return {c > 0 ? e / (c * c) : endless};
}

// asin and acos are steep at their ends: there a bound on the difference to the end point, by sqrt,
// replaces the slope.
inline Carried arc(double v, double e) {
  const double m = farthest_zero(v, e);
  if (m < 1) return {e / std::sqrt((1 - m) * (1 + m))};
  const std::uint8_t nan = m > 1 ? special::nan : 0;
  // The arc over a distance d is longest at the end: acos(1 - d) <= pi/2 sqrt(2 d).
  return {std::fmin(3.1415926535897936, 1.5707963267948968 * std::sqrt(2 * e)), nan};
}

inline Carried atan(double v, double e) {
  const double m = nearest_zero(v, e);
  return {std::fmin(e / (1 + m * m), 3.1415926535897936)};
}

inline Carried sinh(double v, double e) { return {e * std::cosh(farthest_zero(v, e))}; }
inline Carried cosh(double v, double e) { return {e * std::sinh(farthest_zero(v, e))}; }

inline Carried asinh(double v, double e) {
  const double m = nearest_zero(v, e);
  return {e / std::sqrt(1 + m * m)};
}

inline Carried acosh(double v, double e) {
  const double left = v - e;
  if (left > 1) return {e / std::sqrt((left - 1) * (left + 1))};
  const std::uint8_t nan = left < 1 ? special::nan : 0;
  // acosh(y) - acosh(x) <= acosh(1 + (y - x)) for 1 <= x < y, and acosh(1 + d) <= sqrt(2 d).
  return {std::sqrt(2 * e), nan};
}

inline Carried atanh(double v, double e) {
  const double m = farthest_zero(v, e);
  if (m < 1) return {e / ((1 - m) * (1 + m))};
  std::uint8_t specials = m > 1 ? special::nan : 0;
  specials |= v + e >= 1 ? special::infinity : 0;
  specials |= v - e <= -1 ? special::minus_infinity : 0;
  return {endless, specials};
}

}  // namespace touchstone::slopes
