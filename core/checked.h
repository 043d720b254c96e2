// Overflow-checked arithmetic on sizes, shapes, indices and offsets: throws Error (limit) instead
// of wrapping round.
//
// add, subtract, multiply and negative take plain indices; Checked offers the same as operators;
// Fits does not throw but records the overflow, for callers that have a fallback.
#pragma once

#include <concepts>
#include <limits>

#include "core/shape.h"

namespace touchstone {

// Throws Error (limit) that quotes the operation: the result does not fit 64 bits.
[[noreturn, gnu::cold, gnu::noinline]] void does_not_fit(Index a, char operation, Index b);

constexpr Index add(Index a, Index b) {
  Index result = 0;
  if (__builtin_add_overflow(a, b, &result)) does_not_fit(a, '+', b);
  return result;
}
constexpr Index subtract(Index a, Index b) {
  Index result = 0;
  if (__builtin_sub_overflow(a, b, &result)) does_not_fit(a, '-', b);
  return result;
}
constexpr Index multiply(Index a, Index b) {
  Index result = 0;
  if (__builtin_mul_overflow(a, b, &result)) does_not_fit(a, '*', b);
  return result;
}
constexpr Index negative(Index a) { return subtract(0, a); }

class Checked {
 public:
  template <std::integral T>
  constexpr Checked(T value) : value_(static_cast<Index>(value)) {  // NOLINT: implicit on purpose
    if constexpr (std::unsigned_integral<T> && sizeof(T) >= sizeof(Index)) {
      constexpr Index most = std::numeric_limits<Index>::max();
      if (value > static_cast<T>(most))
        does_not_fit(most, '+', static_cast<Index>(value - static_cast<T>(most)));
    }
  }

  constexpr Index value() const { return value_; }

  friend constexpr Checked operator+(Checked a, Checked b) { return add(a.value_, b.value_); }
  friend constexpr Checked operator-(Checked a, Checked b) { return subtract(a.value_, b.value_); }
  friend constexpr Checked operator*(Checked a, Checked b) { return multiply(a.value_, b.value_); }
  // Rounds towards minus infinity, as the notation divides. Throws on division by zero and on min()
  // / -1.
  friend constexpr Checked operator/(Checked a, Checked b) {
    if (b.value_ == 0) does_not_fit(a.value_, '/', 0);
    if (b.value_ == -1) return negative(a.value_);
    const Index quotient = a.value_ / b.value_;
    return quotient - (a.value_ % b.value_ != 0 && (a.value_ < 0) != (b.value_ < 0) ? 1 : 0);
  }
  friend constexpr auto operator<=>(Checked a, Checked b) = default;

 private:
  Index value_;
};

// Sums and products that stay defined on overflow: all() is then false for good and the results are
// meaningless.
class Fits {
 public:
  constexpr Index add(Index a, Index b) {
    all_ &= !__builtin_add_overflow(a, b, &a);
    return a;
  }
  constexpr Index subtract(Index a, Index b) {
    all_ &= !__builtin_sub_overflow(a, b, &a);
    return a;
  }
  constexpr Index multiply(Index a, Index b) {
    all_ &= !__builtin_mul_overflow(a, b, &a);
    return a;
  }
  constexpr bool all() const { return all_; }

 private:
  bool all_ = true;
};

}  // namespace touchstone
