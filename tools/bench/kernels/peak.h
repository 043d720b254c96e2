// Measures one core's peak multiply-add rate, with all operands in registers. Reports use another
// peak (tools/bench/roof.cc): all threads, wall-clock time, the widest vectors of the machine. This
// one counts a single thread's CPU time, for the kernel's own instruction set, in runs short enough
// to interleave with the kernel's.
#pragma once

#include <immintrin.h>

#include <ctime>

#include "optimized/registry/isa.h"

namespace touchstone::bench {

// CPU time of this thread alone, so that other load on the machine does not count.
inline double seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Twelve independent chains hide each operation's latency. Separate variables, because the compiler
// may keep an array in memory.
#define TOUCHSTONE_CHAINS(name, features, Vector, set, step)                                    \
  __attribute__((target(features))) inline float name(long steps) {                             \
    const Vector a = set(0.999F), b = set(0.001F);                                              \
    Vector s0 = set(0), s1 = set(1), s2 = set(2), s3 = set(3), s4 = set(4), s5 = set(5),        \
           s6 = set(6), s7 = set(7), s8 = set(8), s9 = set(9), s10 = set(10), s11 = set(11);    \
    for (long k = 0; k < steps; ++k) {                                                          \
      s0 = step(s0), s1 = step(s1), s2 = step(s2), s3 = step(s3), s4 = step(s4), s5 = step(s5); \
      s6 = step(s6), s7 = step(s7), s8 = step(s8), s9 = step(s9), s10 = step(s10);              \
      s11 = step(s11);                                                                          \
    }                                                                                           \
    return (s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7 + s8 + s9 + s10 + s11)[0];                    \
  }
#define TOUCHSTONE_STEP(s) _mm512_fmadd_ps(s, a, b)
TOUCHSTONE_CHAINS(chains_avx512, "avx512f", __m512, _mm512_set1_ps, TOUCHSTONE_STEP)
#undef TOUCHSTONE_STEP
#define TOUCHSTONE_STEP(s) _mm256_fmadd_ps(s, a, b)
TOUCHSTONE_CHAINS(chains_avx2, "avx2,fma", __m256, _mm256_set1_ps, TOUCHSTONE_STEP)
#undef TOUCHSTONE_STEP
// A multiplication and an addition, since SSE4.1 has no FMA.
#define TOUCHSTONE_STEP(s) (s * a + b)
TOUCHSTONE_CHAINS(chains_sse41, "sse4.1", __m128, _mm_set1_ps, TOUCHSTONE_STEP)
#undef TOUCHSTONE_STEP

// Returns operations per second, measured over about a tenth of a millisecond.
inline double roof(optimized::Isa isa) {
  [[maybe_unused]] static volatile float kept;
  const long steps = 20000;
  const double start = seconds();
  kept = isa == optimized::Isa::avx512 ? chains_avx512(steps)
         : isa == optimized::Isa::avx2 ? chains_avx2(steps)
                                       : chains_sse41(steps);
  const double lanes = isa == optimized::Isa::avx512 ? 16 : isa == optimized::Isa::avx2 ? 8 : 4;
  return 2 * 12 * lanes * static_cast<double>(steps) / (seconds() - start);
}

}  // namespace touchstone::bench
