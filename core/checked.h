// Arithmetic on sizes, shapes, indices and offsets that fails by name instead of wrapping round.
//
// add, subtract, multiply and negative take plain indices; Checked writes the same with operators;
// Fits goes on and notes that something did not fit, for whoever has another way then.
#pragma once

#include <concepts>
#include <limits>

#include "core/shape.h"

namespace touchstone {

// Throws Error (limit) with the operation in it: an index does not fit 64 bits.
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
  constexpr Checked(T value) : value_(static_cast<Index>(value)) {  // NOLINT: meant to convert
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
  // Towards minus infinity, as the notation divides. By zero, and the least by -1, are refused.
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

// Sums and products that stay defined where they do not fit: then all() is false for good, and
// what was computed means nothing.
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
