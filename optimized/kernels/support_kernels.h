// Values of support vector machines' kernels over contiguous sums. support_kernels.cc is compiled
// once per instruction set; the bits do not depend on it.
#pragma once

#include <cstdint>

namespace touchstone::optimized {

inline constexpr int most_whole_degree = 64;

// Replaces each sum by the value at scale * sum + shift.
struct SupportKernels {
  void (*tanh)(float* sums, std::int64_t count, float scale, float shift);
  // Powers of a degree from 1 to most_whole_degree.
  void (*powers)(float* sums, std::int64_t count, float scale, float shift, int degree);
};

extern const SupportKernels support_kernels_sse41, support_kernels_avx2, support_kernels_avx512;

enum class Isa;
const SupportKernels& support_kernels_of(Isa isa);

}  // namespace touchstone::optimized
