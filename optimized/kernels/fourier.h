// Fourier transforms in double, several side by side: element t of transform v is at [t * width +
// v]. Results of every set of instructions are far inside float32's precision. fourier.cc is
// compiled once per instruction set.
#pragma once

#include <cstdint>

namespace touchstone::optimized {

// Elements of the transforms, read as float32.
struct FourierLoad {
  const float* const* from;  // first element of each transform
  std::int64_t stride;       // between elements
  bool is_complex;           // the imaginary part follows the real one
  const float* weights;      // one per element, or null
  std::int64_t count, width;
  double *re, *im;
  float* size;  // per transform, receives NaN or infinity if an element is not finite, else 0
};

inline constexpr std::int64_t max_fourier_radix = 127;

// A pass of mixed-radix transforms of `length` elements, for `before` blocks at once.
struct FourierStage {
  std::int64_t radix, length, before;
  const double* turns;  // for each element of a part, cosine and sine of radix - 1 factors
  const double* roots;  // cosine and sine of each radix-th of a turn, for radices above 5
};
struct FourierStages {
  const FourierStage* stages;
  std::int64_t count;
};

struct FourierStore {
  const double *re, *im;
  std::int64_t count, width, stride;
  bool is_complex;
  double divisor;
  float* const* to;
};

struct FourierKernels {
  void (*load)(const FourierLoad& load);
  // Transforms data with `spare`, memory of the same size. Returns true if the result is in it.
  bool (*transform)(const FourierStages& stages, std::int64_t width, double* re, double* im,
                    double* spare_re, double* spare_im);
  // Multiplies row k by factor k: `factors` holds real and imaginary parts.
  void (*multiply)(const double* factors, std::int64_t rows, std::int64_t width, double* re,
                   double* im);
  void (*store)(const FourierStore& store);
};
extern const FourierKernels fourier_sse41, fourier_avx2, fourier_avx512;

}  // namespace touchstone::optimized
