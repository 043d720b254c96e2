// Which convolution kernels there are: one list for the generator that makes them
// (convolution_generator.cc) and for the table of those that run (convolution_table.cc).
//
// A kernel is X(isa, kind, step, blocks, columns, rows): it keeps `blocks` channel blocks of
// `columns` x `rows` points of the output in registers. `step` is how far a column of the output
// advances in the input, 0 where that is known at run time only. `kind`: blocked reads a blocked
// map, plain reads [channel][row][column], depthwise sums each channel alone.
#pragma once

// The steps that a kernel knows ahead.
#define TOUCHSTONE_BOTH_STEPS(TILES, X, isa, kind) TILES(X, isa, kind, 1) TILES(X, isa, kind, 2)
// Enough to be right for any width.
#define TOUCHSTONE_FEW_TILES(X, isa, kind, step, blocks) \
  X(isa, kind, step, blocks, 4, 1) X(isa, kind, step, blocks, 1, 1)
#define TOUCHSTONE_DEPTHWISE_TILES(X, isa, kind, step) \
  X(isa, kind, step, 1, 7, 1) TOUCHSTONE_FEW_TILES(X, isa, kind, step, 1)

// 32 registers of a block each: 28 sums, two weights, a value of the input in all lanes.
#define TOUCHSTONE_AVX512_TILES(X, isa, kind, step)                                    \
  X(isa, kind, step, 2, 14, 1)                                                         \
  X(isa, kind, step, 2, 7, 2)                                                          \
  X(isa, kind, step, 2, 7, 1)                                                          \
  X(isa, kind, step, 2, 6, 1)                                                          \
  X(isa, kind, step, 2, 2, 1) X(isa, kind, step, 1, 14, 1) X(isa, kind, step, 1, 7, 1) \
      TOUCHSTONE_FEW_TILES(X, isa, kind, step, 2) TOUCHSTONE_FEW_TILES(X, isa, kind, step, 1)
#define TOUCHSTONE_AVX512_KERNELS(X)                                      \
  TOUCHSTONE_BOTH_STEPS(TOUCHSTONE_AVX512_TILES, X, avx512, blocked)      \
  TOUCHSTONE_FEW_TILES(X, avx512, blocked, 0, 2)                          \
  TOUCHSTONE_FEW_TILES(X, avx512, blocked, 0, 1)                          \
  TOUCHSTONE_BOTH_STEPS(TOUCHSTONE_AVX512_TILES, X, avx512, plain)        \
  TOUCHSTONE_FEW_TILES(X, avx512, plain, 0, 2)                            \
  TOUCHSTONE_FEW_TILES(X, avx512, plain, 0, 1)                            \
  X(avx512, depthwise, 1, 1, 14, 1)                                       \
  X(avx512, depthwise, 2, 1, 14, 1)                                       \
  TOUCHSTONE_BOTH_STEPS(TOUCHSTONE_DEPTHWISE_TILES, X, avx512, depthwise) \
  TOUCHSTONE_FEW_TILES(X, avx512, depthwise, 0, 1)

// 16 registers of a block each: 12 sums.
#define TOUCHSTONE_AVX2_TILES(X, isa, kind, step) \
  X(isa, kind, step, 2, 6, 1)                     \
  X(isa, kind, step, 2, 3, 1)                     \
  X(isa, kind, step, 1, 12, 1)                    \
  TOUCHSTONE_FEW_TILES(X, isa, kind, step, 2) TOUCHSTONE_FEW_TILES(X, isa, kind, step, 1)
#define TOUCHSTONE_AVX2_KERNELS(X)                                      \
  TOUCHSTONE_BOTH_STEPS(TOUCHSTONE_AVX2_TILES, X, avx2, blocked)        \
  TOUCHSTONE_FEW_TILES(X, avx2, blocked, 0, 2)                          \
  TOUCHSTONE_FEW_TILES(X, avx2, blocked, 0, 1)                          \
  TOUCHSTONE_BOTH_STEPS(TOUCHSTONE_AVX2_TILES, X, avx2, plain)          \
  TOUCHSTONE_FEW_TILES(X, avx2, plain, 0, 2)                            \
  TOUCHSTONE_FEW_TILES(X, avx2, plain, 0, 1)                            \
  TOUCHSTONE_BOTH_STEPS(TOUCHSTONE_DEPTHWISE_TILES, X, avx2, depthwise) \
  TOUCHSTONE_FEW_TILES(X, avx2, depthwise, 0, 1)

// 16 registers of half a block: right, and no more.
#define TOUCHSTONE_SSE41_STEPS(X, kind)      \
  TOUCHSTONE_FEW_TILES(X, sse41, kind, 0, 1) \
  TOUCHSTONE_FEW_TILES(X, sse41, kind, 1, 1) TOUCHSTONE_FEW_TILES(X, sse41, kind, 2, 1)
#define TOUCHSTONE_SSE41_KERNELS(X)  \
  TOUCHSTONE_SSE41_STEPS(X, blocked) \
  TOUCHSTONE_SSE41_STEPS(X, plain) TOUCHSTONE_SSE41_STEPS(X, depthwise)

#define TOUCHSTONE_CONVOLUTION_KERNELS(X) \
  TOUCHSTONE_AVX512_KERNELS(X) TOUCHSTONE_AVX2_KERNELS(X) TOUCHSTONE_SSE41_KERNELS(X)
