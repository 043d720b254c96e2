// Arithmetic on sizes, shapes and offsets that fails by name instead of wrapping round.
#pragma once

#include <concepts>
#include <limits>

#include "core/error.h"
#include "core/shape.h"

namespace touchstone {

class Checked {
 public:
  template <std::integral T>
  constexpr Checked(T value) : value_(static_cast<Index>(value)) {  // NOLINT: meant to convert
    if constexpr (std::unsigned_integral<T> && sizeof(T) >= sizeof(Index)) {
      if (value > static_cast<T>(std::numeric_limits<Index>::max())) refuse();
    }
  }

  constexpr Index value() const { return value_; }

  friend constexpr Checked operator+(Checked a, Checked b) {
    Index result = 0;
    if (__builtin_add_overflow(a.value_, b.value_, &result)) refuse();
    return result;
  }
  friend constexpr Checked operator-(Checked a, Checked b) {
    Index result = 0;
    if (__builtin_sub_overflow(a.value_, b.value_, &result)) refuse();
    return result;
  }
  friend constexpr Checked operator*(Checked a, Checked b) {
    Index result = 0;
    if (__builtin_mul_overflow(a.value_, b.value_, &result)) refuse();
    return result;
  }
  // Towards minus infinity, as the notation divides. By zero, and the least by -1, are refused.
  friend constexpr Checked operator/(Checked a, Checked b) {
    if (b.value_ == 0 || (b.value_ == -1 && a.value_ == std::numeric_limits<Index>::min()))
      refuse();
    const Index quotient = a.value_ / b.value_;
    return quotient - (a.value_ % b.value_ != 0 && (a.value_ < 0) != (b.value_ < 0) ? 1 : 0);
  }
  friend constexpr auto operator<=>(Checked a, Checked b) = default;

 private:
  [[noreturn]] static void refuse() {
    throw Error(ErrorKind::limit, "a size or offset does not fit 64 bits");
  }

  Index value_;
};

}  // namespace touchstone
