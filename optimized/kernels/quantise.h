// Quantization of rows of numbers. quantise.cc is compiled once per instruction set.
#pragma once

#include <cstdint>

namespace touchstone::optimized {

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

// Sum of two rows of 8-bit integers, each with a scale and a zero point: y = what quantizing the
// float32 sum gives, held to [low, high]. Scales are constant, positive and far from overflow.
struct QuantisedSum {
  struct Operand {
    float scale, zero;
    bool is_signed;
  };
  Operand a, b, y;
  float low, high;
};

struct QuantiseKernels {
  NumberRange (*range)(const float* x, std::int64_t count);
  // y = saturated(round_even(x / scale) + zero); NaN gives 0. Not for int32.
  void (*quantise)(const QuantisedRow& row, const float* x, QuantisedType type, void* y);
  void (*quantise_integers)(const QuantisedRow& row, const std::int32_t* x, QuantisedType type,
                            void* y);
  // The same for finite numbers whose quotients are small, by a scale far from 0 and infinity.
  void (*quantise_small)(float scale, float zero, std::int64_t count, const float* x,
                         std::uint8_t* y);
  // y = (x - zero) * scale
  void (*dequantise)(const QuantisedRow& row, const void* x, QuantisedType type, float* y);
  void (*add)(const QuantisedSum& sum, const void* a, const void* b, std::int64_t count, void* y);
};

extern const QuantiseKernels quantise_sse41, quantise_avx2, quantise_avx512, quantise_vnni;

}  // namespace touchstone::optimized
