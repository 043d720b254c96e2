// What a step takes from others and gives to them, and what its definitions cost: for profiles.
#pragma once

#include <vector>

#include "optimized/plan/outline.h"

namespace touchstone {

struct Cost {
  std::vector<Index> reads, writes;  // values that come from outside, constants too; that are seen
  Index bytes = 0;                   // of both, as far as their shapes are known
  // Multiplications, additions and other operations on elements as the definition counts them,
  // however a kernel goes about it; 0 where it is not known.
  Index flop = 0;
};

Cost cost_of(const Outline& outline, const std::vector<Index>& nodes);

}  // namespace touchstone
