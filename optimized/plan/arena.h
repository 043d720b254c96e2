// Memory planning: places the buffers of a plan in one arena. Buffers with overlapping lifetimes do
// not overlap; the largest are placed first, each at the lowest offset that fits.
#pragma once

#include <vector>

#include "core/shape.h"

namespace touchstone::optimized {

struct Span {
  Index bytes = 0;
  Index first = 0, last = 0;  // steps of the first write and the last read
  Index offset = 0;           // in bytes; set by place_spans, a multiple of 64
};

// Sets the offsets. Returns the total size in bytes.
Index place_spans(std::vector<Span>& spans);

}  // namespace touchstone::optimized
