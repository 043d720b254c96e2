// The bounded number: the exact value, and the largest error of any faithful evaluation in the
// compute format. After a possible jump (floor, a comparison) or overflow it also holds the other
// valid values.
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <utility>

#include "core/shape.h"
#include "core/types.h"
#include "reference/semantics/context.h"
#include "reference/semantics/double_double.h"
#include "reference/semantics/tri_bool.h"

namespace touchstone {

// Values that are valid although they are outside [v - e, v + e].
namespace special {
enum : std::uint8_t { infinity = 1, minus_infinity = 2, nan = 4, largest = 8, minus_largest = 16 };
}

struct Extra;

// A value with an error bound: hi + lo is exact, and any number within e of it is a possible
// result.
class Bounded {
 public:
  struct Member {  // one alternative: an interval
    double hi = 0, lo = 0, e = 0;
  };

  // The exact value is hi + lo, accurate to 104 bits; hi holds infinities and NaN.
  double hi = 0, lo = 0;
  double e = 0;  // infinite: anything is valid

  Bounded() = default;
  explicit Bounded(Index i);
  static Bounded of(double x);  // rounded if it does not fit the compute format
  static Bounded raw(double hi, double lo, double e) { return {hi, lo, e}; }
  static Bounded anything(double hi, double lo = 0);

  Bounded(const Bounded& o) : hi(o.hi), lo(o.lo), e(o.e), extra_(o.extra_) {
    if (extra_) [[unlikely]]
      copy_extra();
  }
  Bounded(Bounded&& o) noexcept
      : hi(o.hi), lo(o.lo), e(o.e), extra_(std::exchange(o.extra_, nullptr)) {}
  Bounded& operator=(const Bounded& o) {
    if (this == &o) return *this;
    hi = o.hi, lo = o.lo, e = o.e;
    if (extra_) [[unlikely]]
      drop_extra();
    extra_ = o.extra_;
    if (extra_) [[unlikely]]
      copy_extra();
    return *this;
  }
  Bounded& operator=(Bounded&& o) noexcept {
    hi = o.hi, lo = o.lo, e = o.e;
    std::swap(extra_, o.extra_);
    return *this;
  }
  ~Bounded() {
    if (extra_) [[unlikely]]
      drop_extra();
  }

  bool plain() const { return extra_ == nullptr; }
  bool is_set() const;
  std::uint8_t specials() const;        // bits of `special`
  const Member* members_begin() const;  // alternatives of a set; empty range otherwise
  const Member* members_end() const;
  void add_specials(std::uint8_t bits);
  // Adds an alternative: as a member of the set while there are at most four, else only the hull
  // grows.
  void admit(const Member& m);
  Bounded without_extra() const { return {hi, lo, e}; }

 private:
  Bounded(double hi, double lo, double e) : hi(hi), lo(lo), e(e) {}
  void copy_extra();
  void drop_extra();
  Extra& extra();

  Extra* extra_ = nullptr;
};

// Alternatives are rare, so they are stored out of line. The hull of all members is the number's
// own v and e.
struct Extra {
  int count = 0;  // 0: no set, only v and e; -1: too many for a set
  std::array<Bounded::Member, 4> members;
  std::uint8_t specials = 0;
};

namespace bounded {

constexpr double up = 1 + 0x1p-49;  // covers the few roundings of the bound itself

bool fits_small(double hi);  // fits() for values below the smallest normal

// True if hi + lo is a number of the compute format.
inline bool fits(double hi, double lo) {
  const SemanticsContext& c = semantics_context;
  if (lo != 0) return false;
  if (c.splitter != 0) {
    const double t = hi * c.splitter;
    if (t - (t - hi) != hi) return false;
  }
  return (std::abs(hi) >= c.normal) | (hi == 0) || fits_small(hi);
}

// Result if v + e exceeds the largest number or is NaN. Out of line.
Bounded overflowed(double hi, double lo, double e);

// Error after a rounding by half an ulp.
inline double grown(double hi, double lo, double e) {
  const SemanticsContext& c = semantics_context;
  return e == 0 && fits(hi, lo) ? 0 : (e + c.u * (std::abs(hi) + e) + c.h) * up;
}

// A sum of magnitudes at least this great has squares that do not underflow.
inline constexpr double least_squared = 0x1p-500;

// The value hi + lo, computed with error e and then rounded by `ulps` ulp.
inline Bounded rounded(double hi, double lo, double e, double ulps = 0.5) {
  const SemanticsContext& c = semantics_context;
  e = ulps == 0.5 ? grown(hi, lo, e) : (e + (2 * ulps * c.u) * (std::abs(hi) + e) + c.h) * up;
  if (!(std::abs(hi + lo) + e < c.limit)) [[unlikely]]
    return overflowed(hi, lo, e);
  return Bounded::raw(hi, lo, e);
}

// General paths: sets, specials, overflow, NaN, products outside the range of double.
Bounded add_slowly(const Bounded& a, const Bounded& b);
Bounded multiply_slowly(const Bounded& a, const Bounded& b);
Bounded negate_slowly(const Bounded& a);
Bounded divide(const Bounded& a, const Bounded& b);

}  // namespace bounded

inline Bounded operator-(const Bounded& a) {
  if (!a.plain()) [[unlikely]]
    return bounded::negate_slowly(a);
  return Bounded::raw(-a.hi, -a.lo, a.e);
}

// The fast paths below compute first and check afterwards. Operands that are infinite, NaN, or too
// large for the format or the error-free transformations give a sum that is not below the limit.
// The slow path then repeats it.
inline Bounded operator+(const Bounded& a, const Bounded& b) {
  if (!a.plain() || !b.plain()) [[unlikely]]
    return bounded::add_slowly(a, b);
  dd::Pair v = dd::add({a.hi, a.lo}, {b.hi, b.lo});
  v.hi = v.hi == 0 ? a.hi + b.hi : v.hi;  // keeps the sign of zero
  const double e = bounded::grown(v.hi, v.lo, a.e + b.e);
  if (!(std::abs(v.hi + v.lo) + e < semantics_context.limit)) [[unlikely]]
    return bounded::add_slowly(a, b);
  return Bounded::raw(v.hi, v.lo, e);
}

inline Bounded operator-(const Bounded& a, const Bounded& b) { return a + -b; }

inline Bounded operator*(const Bounded& a, const Bounded& b) {
  if (!a.plain() || !b.plain()) [[unlikely]]
    return bounded::multiply_slowly(a, b);
  dd::Pair v = dd::multiply({a.hi, a.lo}, {b.hi, b.lo});
  // Below 2^-900 the low half of a product is lost; only double elements get there.
  const bool lost = (std::abs(v.hi) < 0x1p-900) & (a.hi != 0) & (b.hi != 0);
  v.hi = v.hi == 0 ? a.hi * b.hi : v.hi;
  const double carried = std::abs(a.hi) * b.e + std::abs(b.hi) * a.e + a.e * b.e;
  const double e = bounded::grown(v.hi, v.lo, carried);
  if (lost | !(std::abs(v.hi + v.lo) + e < semantics_context.limit)) [[unlikely]]
    return bounded::multiply_slowly(a, b);
  return Bounded::raw(v.hi, v.lo, e);
}

inline Bounded operator/(const Bounded& a, const Bounded& b) { return bounded::divide(a, b); }

inline Bounded& operator+=(Bounded& a, const Bounded& b) { return a = a + b; }
inline Bounded& operator-=(Bounded& a, const Bounded& b) { return a = a - b; }
inline Bounded& operator*=(Bounded& a, const Bounded& b) { return a = a * b; }
inline Bounded& operator/=(Bounded& a, const Bounded& b) { return a = a / b; }

// The smallest number that admits everything that either admits; its value is that of `a`.
Bounded hull(const Bounded& a, const Bounded& b);
// The same, kept as a set while it is small.
Bounded either_of(const Bounded& a, const Bounded& b);

TriBool less(const Bounded& a, const Bounded& b);
TriBool less_equal(const Bounded& a, const Bounded& b);
TriBool equal(const Bounded& a, const Bounded& b);
TriBool is_nan(const Bounded& a);

// True once an argmax had to choose between numbers whose bounds overlap.
inline thread_local bool unsure_choice = false;
inline void note_choice(const Bounded& a, const Bounded& b) {
  if (a.e + b.e > 0 && std::abs(a.hi - b.hi) <= a.e + b.e) unsure_choice = true;
}
TriBool is_inf(const Bounded& a);

inline Bounded select(TriBool predicate, const Bounded& a, const Bounded& b) {
  if (predicate.certain) return predicate.exact ? a : b;
  return predicate.exact ? either_of(a, b) : either_of(b, a);
}

template <std::same_as<Bounded> S>
S constant(double x) {
  return Bounded::of(x);
}
template <std::same_as<Bounded> S>
S from_index(Index i) {
  return Bounded(i);
}

// Values that a tensor of `type` may hold after x was written to it.
Bounded store(const Bounded& x, Type type);
// Results that a conversion of x to `to` may give. A value out of an integer's range is clamped if
// `saturate`, else undefined.
Bounded convert(const Bounded& x, Type to, bool saturate);
template <std::same_as<Bounded> S>
S convert_to(const S& x, Type to, bool saturate) {
  return convert(x, to, saturate);
}

}  // namespace touchstone

#include "reference/semantics/bounded_primitives.h"
#include "reference/semantics/bounded_sums.h"
#include "reference/semantics/index_range.h"
