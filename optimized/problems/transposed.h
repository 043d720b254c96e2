// Splits a transposed convolution into ordinary ones. Output rows that are `stride` apart read the
// image through the same taps. Each such set (a phase) is thus a convolution of stride 1 with some
// of the taps, in reverse. Columns likewise. No zeros are inserted between the image's points.
#pragma once

#include <vector>

#include "core/shape.h"

namespace touchstone::optimized {

// One phase along one dimension.
struct OutputPhase {
  Index first = 0, count = 0;  // in the output, where neighbors are `stride` apart
  std::vector<Index> taps;     // of the kernel, in the order in which the image is read
  Index from = 0;              // input index that the first tap reads for the first output
  Index spread = 1;            // distance between the input indices of neighboring taps

  // Number of points that the phase reads outside of the image, before and after it.
  Index past_begin() const { return from < 0 ? -from : 0; }
  Index past_end(Index in) const {
    const Index end = from + count + (static_cast<Index>(taps.size()) - 1) * spread;
    return end > in ? end - in : 0;
  }
};

// `before`: padding begin, which is cut off the output. Omits the phases that the output is too
// short for. Returns none at all if one of them has no taps.
std::vector<OutputPhase> phases_of(Index kernel, Index stride, Index dilation, Index before,
                                   Index out);

}  // namespace touchstone::optimized
