// Where the buffers of a plan stand in one block of memory. Two that live at the same time do not
// overlap; the largest are placed first, each as low as it fits.
#pragma once

#include <vector>

#include "core/shape.h"

namespace touchstone {

struct Span {
  Index bytes = 0;
  Index first = 0, last = 0;  // the steps at which it is written first and read last
  Index offset = 0;           // found by place_spans, a multiple of 64
};

// Returns the bytes of the whole.
Index place_spans(std::vector<Span>& spans);

}  // namespace touchstone
