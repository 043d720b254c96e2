// List of all convolution kernels, for the generator (convolution_generator.cc) and for the
// run-time table (convolution_table.cc).
//
// A kernel is X(isa, kind, step, blocks, columns, rows): it keeps `blocks` channel blocks of
// `columns` x `rows` output points in registers. `step` is the column stride of the convolution, 0
// if known only at run time. `kind`: blocked reads a blocked map, plain reads
// [channel][row][column], depthwise sums each channel alone, depthwise3 over 3x3 taps.
#pragma once

// clang-format off

// Tiles of each kind for strides known at compile time, and for all others.
#define TOUCHSTONE_STEPS(TILES, REST, X, isa, kind) \
  TILES(X, isa, kind, 1) TILES(X, isa, kind, 2) REST(X, isa, kind, 0)

// The minimum that covers every width.
#define TOUCHSTONE_ANY_WIDTH(X, isa, kind, step, blocks) \
  X(isa, kind, step, blocks, 4, 1) X(isa, kind, step, blocks, 1, 1)
#define TOUCHSTONE_ONE_BLOCK(X, isa, kind, step) TOUCHSTONE_ANY_WIDTH(X, isa, kind, step, 1)
#define TOUCHSTONE_TWO_BLOCKS(X, isa, kind, step) \
  TOUCHSTONE_ANY_WIDTH(X, isa, kind, step, 2) TOUCHSTONE_ANY_WIDTH(X, isa, kind, step, 1)
#define TOUCHSTONE_NONE(X, isa, kind, step)

// 32 registers of a block each: 28 sums, two weights, one input value in all lanes.
#define TOUCHSTONE_AVX512_TILES(X, isa, kind, step) \
  X(isa, kind, step, 2, 14, 1) X(isa, kind, step, 2, 8, 1) X(isa, kind, step, 2, 7, 2) \
  X(isa, kind, step, 2, 7, 1) X(isa, kind, step, 2, 6, 1) X(isa, kind, step, 2, 2, 1) \
  X(isa, kind, step, 1, 14, 1) X(isa, kind, step, 1, 7, 1) \
  TOUCHSTONE_TWO_BLOCKS(X, isa, kind, step)
// Maps as narrow as the last ones of a network of small images.
#define TOUCHSTONE_AVX512_BLOCKED(X, isa, kind, step) \
  TOUCHSTONE_AVX512_TILES(X, isa, kind, step) \
  X(isa, kind, step, 2, 5, 2) X(isa, kind, step, 2, 5, 1) X(isa, kind, step, 2, 3, 3) \
  X(isa, kind, step, 2, 3, 1)
#define TOUCHSTONE_AVX512_DEPTHWISE(X, isa, kind, step) \
  X(isa, kind, step, 1, 14, 1) X(isa, kind, step, 1, 7, 1) \
  TOUCHSTONE_ONE_BLOCK(X, isa, kind, step)
#define TOUCHSTONE_AVX512_KERNELS(X) \
  TOUCHSTONE_STEPS(TOUCHSTONE_AVX512_BLOCKED, TOUCHSTONE_TWO_BLOCKS, X, avx512, blocked) \
  TOUCHSTONE_STEPS(TOUCHSTONE_AVX512_TILES, TOUCHSTONE_TWO_BLOCKS, X, avx512, plain) \
  TOUCHSTONE_STEPS(TOUCHSTONE_AVX512_DEPTHWISE, TOUCHSTONE_ONE_BLOCK, X, avx512, depthwise) \
  TOUCHSTONE_STEPS(TOUCHSTONE_AVX512_DEPTHWISE, TOUCHSTONE_NONE, X, avx512, depthwise3)

// 16 registers of a block each: 12 sums.
#define TOUCHSTONE_AVX2_TILES(X, isa, kind, step) \
  X(isa, kind, step, 2, 6, 1) X(isa, kind, step, 2, 3, 1) X(isa, kind, step, 1, 12, 1) \
  TOUCHSTONE_TWO_BLOCKS(X, isa, kind, step)
#define TOUCHSTONE_AVX2_DEPTHWISE(X, isa, kind, step) \
  X(isa, kind, step, 1, 7, 1) TOUCHSTONE_ONE_BLOCK(X, isa, kind, step)
#define TOUCHSTONE_AVX2_KERNELS(X) \
  TOUCHSTONE_STEPS(TOUCHSTONE_AVX2_TILES, TOUCHSTONE_TWO_BLOCKS, X, avx2, blocked) \
  TOUCHSTONE_STEPS(TOUCHSTONE_AVX2_TILES, TOUCHSTONE_TWO_BLOCKS, X, avx2, plain) \
  TOUCHSTONE_STEPS(TOUCHSTONE_AVX2_DEPTHWISE, TOUCHSTONE_ONE_BLOCK, X, avx2, depthwise) \
  TOUCHSTONE_STEPS(TOUCHSTONE_AVX2_DEPTHWISE, TOUCHSTONE_NONE, X, avx2, depthwise3)

// 16 registers of half a block: only the kernels needed for correctness.
#define TOUCHSTONE_SSE41_KERNELS(X) \
  TOUCHSTONE_STEPS(TOUCHSTONE_ONE_BLOCK, TOUCHSTONE_ONE_BLOCK, X, sse41, blocked) \
  TOUCHSTONE_STEPS(TOUCHSTONE_ONE_BLOCK, TOUCHSTONE_ONE_BLOCK, X, sse41, plain) \
  TOUCHSTONE_STEPS(TOUCHSTONE_ONE_BLOCK, TOUCHSTONE_ONE_BLOCK, X, sse41, depthwise)

#define TOUCHSTONE_CONVOLUTION_KERNELS(X) \
  TOUCHSTONE_AVX512_KERNELS(X) TOUCHSTONE_AVX2_KERNELS(X) TOUCHSTONE_SSE41_KERNELS(X)

// clang-format on
