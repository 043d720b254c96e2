// A transposed convolution as convolutions: output rows that lie a stride apart read the image
// through the same taps, so each such set of rows is a convolution of stride 1 with some of the
// taps, in reverse. Columns likewise, and all of it without a zero put between the image's points.
#pragma once

#include <vector>

#include "core/shape.h"

namespace touchstone {

// A set along one dimension.
struct OutputPhase {
  Index first = 0, count = 0;  // of the output; a stride from each to the next
  std::vector<Index> taps;     // of the kernel, in the order in which the image is read
  Index from = 0;              // where the first of them reads for the first of the output
  Index spread = 1;            // from where a tap reads to where the next one does

  // How far outside of the image it reads.
  Index before() const { return from < 0 ? -from : 0; }
  Index behind(Index in) const {
    const Index end = from + count + (static_cast<Index>(taps.size()) - 1) * spread;
    return end > in ? end - in : 0;
  }
};

// `before`: what is cut off in front. Sets that the output is too short for are left out; where one
// has no taps at all, so are all.
std::vector<OutputPhase> phases_of(Index kernel, Index stride, Index dilation, Index before,
                                   Index out);

}  // namespace touchstone
