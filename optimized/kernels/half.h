// Conversions of rows between float32 and the floats of 16 bits. half.cc is compiled once per
// instruction set; each set gives the bits of core/numbers/convert.h.
#pragma once

#include <cstdint>

namespace touchstone::optimized {

struct HalfKernels {
  void (*from_float)(const float* x, std::uint16_t* y, std::int64_t count);
  void (*to_float)(const std::uint16_t* x, float* y, std::int64_t count);
  // y = to_float(from_float(x)); y may be x.
  void (*round)(const float* x, float* y, std::int64_t count);
};

struct HalfTable {
  HalfKernels float16, bfloat16;
};

extern const HalfTable half_sse41, half_avx2, half_avx512;

}  // namespace touchstone::optimized
