// Tap i of point y meets the output at y * stride + i * dilation - before: solved for y.
#include "optimized/canonical/transposed.h"

#include <numeric>

namespace touchstone {

std::vector<Phase> phases_of(Index kernel, Index stride, Index dilation, Index before, Index out) {
  std::vector<Phase> phases;
  for (Index first = 0; first < stride && first < out; ++first) {
    Phase phase;
    phase.first = first;
    phase.count = (out - first + stride - 1) / stride;
    phase.spread = dilation / std::gcd(dilation, stride);
    for (Index tap = kernel; tap-- > 0;) {
      if ((first + before - tap * dilation) % stride != 0) continue;
      if (phase.taps.empty()) phase.from = (first + before - tap * dilation) / stride;
      phase.taps.push_back(tap);
    }
    if (phase.taps.empty()) return {};
    phases.push_back(std::move(phase));
  }
  return phases;
}

}  // namespace touchstone
