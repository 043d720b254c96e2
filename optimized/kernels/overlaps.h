// Comparison of one box with many that were selected, for NonMaxSuppression. overlaps.cc is
// compiled once per instruction set.
#pragma once

#include <cstdint>

namespace touchstone::optimized {

// Floats of a box: the lower and the upper end across, those along, and the area.
inline constexpr int box_floats = 5;
// Boxes are read in groups of this many. A box of zeros overlaps none.
inline constexpr std::int64_t boxes_at_once = 16;

// Returns true if the common area of `box` and one of `count` boxes, over the area of their union,
// exceeds `threshold`. Float f of box k is boxes[f * plane + k].
using OverlapKernel = bool (*)(const float* boxes, std::int64_t plane, std::int64_t count,
                               const float* box, float threshold);
bool overlaps_sse41(const float* boxes, std::int64_t plane, std::int64_t count, const float* box,
                    float threshold);
bool overlaps_avx2(const float* boxes, std::int64_t plane, std::int64_t count, const float* box,
                   float threshold);
bool overlaps_avx512(const float* boxes, std::int64_t plane, std::int64_t count, const float* box,
                     float threshold);

}  // namespace touchstone::optimized
