// Test utilities for kernels: integer data, whose sums are exact in any order, and memory with
// guards around it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "optimized/kernels/paged_testing.h"
#include "optimized/registry/isa.h"

namespace touchstone::testing {

inline std::vector<optimized::Isa> present_isas() {
  std::vector<optimized::Isa> present;
  for (optimized::Isa isa : optimized::all_isas) {
    if (processor_has(isa)) present.push_back(isa);
  }
  return present;
}

inline std::vector<float> integers(Index count, unsigned seed, int max = 4) {
  std::mt19937 random(seed);
  std::vector<float> numbers(static_cast<std::size_t>(count));
  for (float& x : numbers)
    x = static_cast<float>(static_cast<int>(random() % static_cast<unsigned>(2 * max + 1)) - max);
  return numbers;
}

inline bool same_bits(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; }

// Memory initialized to a sentinel, with a margin before it and an inaccessible page after it.
class Guarded {
 public:
  explicit Guarded(Index count)
      : all_(static_cast<std::size_t>(count + margin), untouched), count_(count) {}
  float* data() { return all_.data() + margin; }
  float operator[](Index k) const { return all_[static_cast<std::size_t>(k + margin)]; }
  Index size() const { return count_; }
  bool margin_kept() const {
    return std::all_of(all_.begin(), all_.begin() + margin,
                       [](float each) { return each == untouched; });
  }
  static constexpr float untouched = -12345.5F;

 private:
  static constexpr Index margin = 64;
  Paged<float> all_;
  Index count_;
};

}  // namespace touchstone::testing
