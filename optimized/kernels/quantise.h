// Quantization of rows of numbers. quantise.cc is compiled once per instruction set.
#pragma once

#include <cstdint>

namespace touchstone {

// Range of numbers; `finite` is false if one is infinite or NaN.
struct NumberRange {
  float low, high;
  bool finite;
};

enum class QuantisedType { uint8, int8, uint16, int16, int32 };

// A row of numbers with one scale, or with one for each number.
struct QuantisedRow {
  std::int64_t count;
  const float *scale, *zero;  // `zero` null: zeros
  std::int64_t step;          // 0 or 1, of both
};

struct QuantiseKernels {
  NumberRange (*range)(const float* x, std::int64_t count);
  // y = saturated(round_even(x / scale) + zero); NaN gives 0. Not for int32.
  void (*quantise)(const QuantisedRow& row, const float* x, QuantisedType type, void* y);
  void (*quantise_integers)(const QuantisedRow& row, const std::int32_t* x, QuantisedType type,
                            void* y);
  // y = (x - zero) * scale
  void (*dequantise)(const QuantisedRow& row, const void* x, QuantisedType type, float* y);
};

extern const QuantiseKernels quantise_sse41, quantise_avx2, quantise_avx512, quantise_vnni;

}  // namespace touchstone
