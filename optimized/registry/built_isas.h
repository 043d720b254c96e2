// Names of kernels by instruction set. The option TOUCHSTONE_ISAS of CMake may leave sets out:
// their names then refer to kernels of another set, which no call reaches.
#pragma once

// CMake defines TOUCHSTONE_IN_PLACE_OF_x as the set that stands in for a set x that is left out.
#ifdef TOUCHSTONE_IN_PLACE_OF_sse41
#define TOUCHSTONE_BUILT_SSE41 0
#else
#define TOUCHSTONE_BUILT_SSE41 1
#define TOUCHSTONE_IN_PLACE_OF_sse41 sse41
#endif
#ifdef TOUCHSTONE_IN_PLACE_OF_avx2
#define TOUCHSTONE_BUILT_AVX2 0
#else
#define TOUCHSTONE_BUILT_AVX2 1
#define TOUCHSTONE_IN_PLACE_OF_avx2 avx2
#endif
#ifdef TOUCHSTONE_IN_PLACE_OF_avx512
#define TOUCHSTONE_BUILT_AVX512 0
#else
#define TOUCHSTONE_BUILT_AVX512 1
#define TOUCHSTONE_IN_PLACE_OF_avx512 avx512
// Kernels of 8-bit integers have two more sets, which need this one.
#define TOUCHSTONE_IN_PLACE_OF_vnni vnni
#define TOUCHSTONE_IN_PLACE_OF_amx amx
#endif

#define TOUCHSTONE_JOINED_NOW(name, isa, rest) name##_##isa##rest
#define TOUCHSTONE_JOINED(name, isa, rest) TOUCHSTONE_JOINED_NOW(name, isa, rest)
// TOUCHSTONE_OF_ISA(Abs_1, avx2, _argv) is Abs_1_avx2_argv.
#define TOUCHSTONE_OF_ISA(name, isa, rest) \
  TOUCHSTONE_JOINED(name, TOUCHSTONE_IN_PLACE_OF_##isa, rest)
