// Generators that property tests share. Each draws from its whole range from the first case on,
// where RapidCheck's own begin with small numbers, and shrinks towards the simplest value.
#pragma once

#include <rapidcheck.h>

#include <bit>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/shape.h"

namespace touchstone::testing {

// Integers from `least` to `most`, which shrink to `least`.
template <class T>
rc::Gen<T> from_to(T least, T most) {
  return rc::gen::resize(rc::kNominalSize, rc::gen::inRange<T>(least, most + 1));
}

// Numbers from `least` to `most` that a float holds, or a sum of few; they shrink to `least`.
inline rc::Gen<double> real_from_to(double least, double most) {
  constexpr int steps = 1 << 26;
  return rc::gen::map(from_to(0, steps),
                      [=](int k) { return least + (most - least) * (double(k) / steps); });
}

// Numbers of any bits, thus of any size, infinities and NaN; they shrink to 0.
template <class Float>
rc::Gen<Float> any_bits() {
  using Bits = std::conditional_t<sizeof(Float) == 4, std::uint32_t, std::uint64_t>;
  return rc::gen::map(rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<Bits>()),
                      [](Bits bits) { return std::bit_cast<Float>(bits); });
}

// Lists of up to `most` items. They shrink to fewer and simpler ones.
template <class T>
rc::Gen<std::vector<T>> up_to(int most, rc::Gen<T> item) {
  return rc::gen::resize(most, rc::gen::container<std::vector<T>>(std::move(item)));
}

}  // namespace touchstone::testing
