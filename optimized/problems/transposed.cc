// Solves for y: tap i of input point y writes output y * stride + i * dilation - before.
#include "optimized/problems/transposed.h"

#include <numeric>

#include "core/checked.h"

namespace touchstone::optimized {

std::vector<OutputPhase> phases_of(Index kernel, Index stride, Index dilation, Index before,
                                   Index out) {
  std::vector<OutputPhase> phases;
  for (Index first = 0; first < stride && first < out; ++first) {
    OutputPhase phase;
    phase.first = first;
    phase.count = (out - 1 - first) / stride + 1;
    phase.spread = dilation / std::gcd(dilation, stride);
    for (Index tap = kernel; tap-- > 0;) {
      const Index at = (Checked(first) + before - Checked(tap) * dilation).value();
      if (at % stride != 0) continue;
      if (phase.taps.empty()) phase.from = at / stride;
      phase.taps.push_back(tap);
    }
    if (phase.taps.empty()) return {};
    phases.push_back(std::move(phase));
  }
  return phases;
}

}  // namespace touchstone::optimized
