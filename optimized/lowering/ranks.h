// Integers that order numbers as TopK and NonMaxSuppression rank them.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/numbers/storage.h"
#include "reference/number.h"

namespace touchstone::optimized {

// Larger for larger numbers; zeros of both signs are equal, and NaN is above every number.
template <class T>
auto rank_of(T x) {
  if constexpr (is_stored<T>) {
    return rank_of(to_float(x));
  } else if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    constexpr Bits sign = Bits{1} << (8 * sizeof(T) - 1);
    if (x != x) return std::numeric_limits<Bits>::max();
    const Bits bits = x == 0 ? Bits{0} : std::bit_cast<Bits>(x);
    return static_cast<Bits>(bits & sign ? ~bits : bits | sign);
  } else {
    using Bits = std::conditional_t<sizeof(T) <= 4, std::uint32_t, std::uint64_t>;
    constexpr Bits shift = std::is_signed_v<T> ? Bits{1} << (8 * sizeof(Bits) - 1) : Bits{0};
    return static_cast<Bits>(static_cast<Bits>(x) ^ shift);
  }
}

}  // namespace touchstone::optimized
