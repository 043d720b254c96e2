// Random draws from a seed, the same on every machine.
#pragma once

#include <cstdint>

#include "core/shape.h"

namespace touchstone::fuzz {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {  // splitmix64
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  Index below(Index count) {
    return static_cast<Index>(bits() % static_cast<std::uint64_t>(count));
  }
  bool one_in(Index count) { return below(count) == 0; }
  template <class C>
  auto& pick(C& from) {
    return from[static_cast<std::size_t>(below(static_cast<Index>(from.size())))];
  }

 private:
  std::uint64_t state_;
};

}  // namespace touchstone::fuzz
