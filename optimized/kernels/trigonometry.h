// Trigonometric functions of contiguous floats, computed in double and rounded once. The bits do
// not depend on the instruction set. trigonometry.cc is compiled once per instruction set.
#pragma once

#include <cstdint>

namespace touchstone::optimized {

// y may be x.
using FloatFunction = void (*)(const float* x, float* y, std::int64_t count);

struct TrigonometryKernels {
  FloatFunction sin, cos, tan, asin, acos, atan;
};

extern const TrigonometryKernels trigonometry_sse41, trigonometry_avx2, trigonometry_avx512;

}  // namespace touchstone::optimized
