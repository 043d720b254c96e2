// Exponential functions and square roots of contiguous float64 numbers, by vectors. The bits do not
// depend on the instruction set. double_functions.cc is compiled once per instruction set.
#pragma once

#include <cstdint>

namespace touchstone::optimized {

enum class Isa;

// y may be x.
using DoubleFunction = void (*)(const double* x, double* y, std::int64_t count);

// Errors in units of the last place: exp 0.9, tanh 1.9, sigmoid 2.5, sqrt 0.5. Sources: W. Cody and
// W. Waite, Software Manual for the Elementary Functions, chapters 6 and 13.
struct DoubleFunctionKernels {
  DoubleFunction exp, tanh, sigmoid, sqrt;
};

extern const DoubleFunctionKernels double_functions_sse41, double_functions_avx2,
    double_functions_avx512;
const DoubleFunctionKernels& double_functions_of(Isa isa);

}  // namespace touchstone::optimized
