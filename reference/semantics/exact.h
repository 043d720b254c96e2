// The exact number: 237 bits and a practically unlimited exponent, no bound. It decides close
// verdicts and checks the primitives of Bounded. Boost is hidden behind it: its header costs two
// seconds per file, and a call is negligible next to 500 ns.
#pragma once

#include <concepts>
#include <cstddef>

#include "core/shape.h"
#include "core/types.h"
#include "reference/semantics/bounded_sums.h"

namespace touchstone {

// A number of 237 bits, stored inline.
class Exact {
 public:
  Exact() : Exact(0.0) {}
  explicit Exact(Index i);
  explicit Exact(double x);
  static Exact of(double x) { return Exact(x); }
  static Exact of(long double x);

  double hi() const;  // rounded to double, and the remainder
  double lo() const;
  long double extended() const;

  std::byte* bytes() { return bytes_; }
  const std::byte* bytes() const { return bytes_; }

 private:
  alignas(16) std::byte bytes_[64];  // a Boost number, which is plain data
};

Exact operator+(const Exact& a, const Exact& b);
Exact operator-(const Exact& a, const Exact& b);
Exact operator*(const Exact& a, const Exact& b);
Exact operator/(const Exact& a, const Exact& b);
Exact operator-(const Exact& a);
inline Exact& operator+=(Exact& a, const Exact& b) { return a = a + b; }
inline Exact& operator-=(Exact& a, const Exact& b) { return a = a - b; }
inline Exact& operator*=(Exact& a, const Exact& b) { return a = a * b; }
inline Exact& operator/=(Exact& a, const Exact& b) { return a = a / b; }

bool less(const Exact& a, const Exact& b);
bool less_equal(const Exact& a, const Exact& b);
bool equal(const Exact& a, const Exact& b);
bool is_nan(const Exact& a);
bool is_inf(const Exact& a);

inline Exact select(bool predicate, const Exact& a, const Exact& b) { return predicate ? a : b; }
inline Exact hull(const Exact& a, const Exact&) { return a; }

template <std::same_as<Exact> S>
S constant(double x) {
  return Exact(x);
}
template <std::same_as<Exact> S>
S from_index(Index i) {
  return Exact(i);
}
template <std::same_as<Exact> S>
S real(Index i) {
  return Exact(i);
}

Index floor_index(const Exact& x);
Index ceil_index(const Exact& x);

// Stored values keep all their bits: the judge compares with the definition's value, not with its
// rounding.
inline Exact store(const Exact& x, Type) { return x; }
Exact convert(const Exact& x, Type to, bool saturate);
template <std::same_as<Exact> S>
S convert_to(const S& x, Type to, bool saturate) {
  return convert(x, to, saturate);
}

namespace prim {
Exact exp(const Exact& x);
Exact log(const Exact& x);
Exact sqrt(const Exact& x);
Exact tanh(const Exact& x);
Exact sigmoid(const Exact& x);
Exact softplus(const Exact& x);
Exact erf(const Exact& x);
Exact abs(const Exact& x);
Exact sign(const Exact& x);
Exact floor(const Exact& x);
Exact ceil(const Exact& x);
Exact truncate(const Exact& x);
Exact round_even(const Exact& x);
Exact sin(const Exact& x);
Exact cos(const Exact& x);
Exact tan(const Exact& x);
Exact asin(const Exact& x);
Exact acos(const Exact& x);
Exact atan(const Exact& x);
Exact sinh(const Exact& x);
Exact cosh(const Exact& x);
Exact asinh(const Exact& x);
Exact acosh(const Exact& x);
Exact atanh(const Exact& x);
Exact reciprocal(const Exact& x);
Exact pow(const Exact& base, const Exact& exponent);
Exact fmod(const Exact& a, const Exact& b);
Exact maximum(const Exact& a, const Exact& b);
Exact minimum(const Exact& a, const Exact& b);
}  // namespace prim

template <>
struct Sum<Exact> {
 public:
  void add(const Exact& x) { value_ += x; }
  void subtract(const Exact& x) { value_ -= x; }
  Exact get() const { return value_; }

 private:
  Exact value_;
};

template <>
struct Prod<Exact> {
 public:
  void add(const Exact& x) { value_ *= x; }
  Exact get() const { return value_; }

 private:
  Exact value_{1.0};
};

template <>
struct Max<Exact> {
 public:
  void add(const Exact& x) { best_ = best_ ? prim::maximum(*best_, x) : x; }
  bool empty() const { return !best_; }
  Exact get() const { return best_ ? *best_ : Exact(-std::numeric_limits<double>::infinity()); }

 private:
  std::optional<Exact> best_;
};

template <>
struct Min<Exact> {
 public:
  void add(const Exact& x) { best_ = best_ ? prim::minimum(*best_, x) : x; }
  bool empty() const { return !best_; }
  Exact get() const { return best_ ? *best_ : Exact(std::numeric_limits<double>::infinity()); }

 private:
  std::optional<Exact> best_;
};

}  // namespace touchstone
