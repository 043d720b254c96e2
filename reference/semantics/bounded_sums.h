// Accumulators of Bounded. A sum's bound holds for any order, so every faithful runtime is inside
// it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "reference/semantics/bounded.h"

namespace touchstone {

template <class S>
struct Sum;
template <class S>
struct Prod;
template <class S>
struct Max;
template <class S>
struct Min;

template <>
struct Sum<Bounded> {
 public:
  void add(const Bounded& x) {
    const double magnitude = std::abs(x.hi) + x.e;
    if (!x.plain() || !(magnitude < 0x1p900)) [[unlikely]]
      return add_slowly(x);
    const dd::Pair s = dd::two_sum(hi_, x.hi);
    hi_ = s.hi;
    lo_ += s.lo + x.lo;
    size_ += magnitude;
    error_ += x.e;
    count_ += magnitude != 0;  // adding an exact zero never rounds
    squares_ += x.hi * x.hi;
    partials_ += hi_;
    partial_squares_ += hi_ * hi_;
    if (magnitude != 0) note_value(x.hi);
    if (exact_) {
      if (x.e == 0 && x.lo == 0)
        note_last_bit(x.hi);
      else
        exact_ = false;
    }
  }
  void subtract(const Bounded& x) { add(-x); }
  Bounded get() const;

 private:
  void add_slowly(const Bounded& x);
  double random_walk() const;
  void note_last_bit(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x) & ~(std::uint64_t{1} << 63);
    const int field = static_cast<int>(bits >> 52);
    const int normal = field - 1075 + std::countr_zero(bits | std::uint64_t{1} << 52);
    const int last = field != 0  ? normal
                     : bits != 0 ? -1074
                                 : 2000;  // subnormal doubles: the lowest exponent
    last_bit_ = std::min(last_bit_, last);
  }

  // Hashes the value of a term, to estimate the number of distinct values.
  void note_value(double x) {
    const std::uint64_t hash = std::bit_cast<std::uint64_t>(x) * 0x9e3779b97f4a7c15;
    marks_[hash >> 62] |= std::uint64_t{1} << (hash >> 56 & 63);
  }
  double distinct() const;

  double hi_ = 0, lo_ = 0;
  double size_ = 0, error_ = 0;  // sums of |x| + e and of e
  Index count_ = 0;
  // Sums of x^2, of the partial sums, and of their squares: for Sums::aggregate.
  double squares_ = 0, partials_ = 0, partial_squares_ = 0;
  std::array<std::uint64_t, 4> marks_{};
  bool exact_ = true;    // all terms so far are numbers of the format without error
  int last_bit_ = 2000;  // they are multiples of 2^last_bit_
  double special_ = 0;   // the IEEE sum of the infinities and NaN among the terms
  bool has_special_ = false, signed_zero_ = true;
  std::uint8_t specials_ = 0;  // union of the terms' special bits
};

template <>
struct Prod<Bounded> {
 public:
  void add(const Bounded& x);
  Bounded get() const;

 private:
  Bounded value_ = Bounded::raw(1, 0, 0);  // without the roundings between the factors
  // Products of max(1, |x|) and min(1, |x|) over the non-zero factors.
  double peak_ = 1, trough_ = 1;
  Index count_ = 0;  // factors other than 1 and -1
  int bits_ = 0;     // significant bits of all factors together
  bool exact_ = true, zero_ = false;
  bool infinite_ = false, negative_ = false;
  bool nan_ = false;  // a factor is NaN, or one whose sign or zeroness is not certain
};

// A product inside a dot product: even in class fast it is not rounded to 16 bits, since sums are
// float32.
inline Bounded product_in_sum(const Bounded& a, const Bounded& b) {
  const SemanticsContext& c = semantics_context;
  if (c.precision == c.sum_precision) return a * b;
  const BoundedScope scope(Type::float32, c.cls, c.sums, c.flush);
  return a * b;
}

namespace prim {
Bounded maximum(const Bounded& a, const Bounded& b);
Bounded minimum(const Bounded& a, const Bounded& b);
}  // namespace prim

template <>
struct Max<Bounded> {
 public:
  void add(const Bounded& x) { best_ = best_ ? prim::maximum(*best_, x) : x; }
  bool empty() const { return !best_; }
  Bounded get() const {
    return best_ ? *best_ : Bounded::raw(-std::numeric_limits<double>::infinity(), 0, 0);
  }

 private:
  std::optional<Bounded> best_;
};

template <>
struct Min<Bounded> {
 public:
  void add(const Bounded& x) { best_ = best_ ? prim::minimum(*best_, x) : x; }
  bool empty() const { return !best_; }
  Bounded get() const {
    return best_ ? *best_ : Bounded::raw(std::numeric_limits<double>::infinity(), 0, 0);
  }

 private:
  std::optional<Bounded> best_;
};

}  // namespace touchstone
