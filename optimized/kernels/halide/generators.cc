// Registers the Halide generators of kernels that no entry defines: matmuls, pooling, quantization.
// optimized/kernels/halide/generate.cc compiles names with `_fma` with contraction of products and
// sums, and names with `_asks` with prefetching.
#include "optimized/kernels/halide/gemm.h"
#include "optimized/kernels/halide/grid.h"
#include "optimized/kernels/halide/pool.h"

HALIDE_REGISTER_GENERATOR(touchstone::optimized::generators::Gemm, gemm_fma_1)
HALIDE_REGISTER_GENERATOR_ALIAS(gemm_fma_2, gemm_fma_1, {{"rows", "2"}})
HALIDE_REGISTER_GENERATOR_ALIAS(gemm_fma_3, gemm_fma_1, {{"rows", "3"}})
HALIDE_REGISTER_GENERATOR_ALIAS(gemm_fma_4, gemm_fma_1, {{"rows", "4"}})
HALIDE_REGISTER_GENERATOR_ALIAS(gemm_fma_5, gemm_fma_1, {{"rows", "5"}})
HALIDE_REGISTER_GENERATOR_ALIAS(gemm_fma_6, gemm_fma_1, {{"rows", "6"}})
HALIDE_REGISTER_GENERATOR_ALIAS(gemm_fma_8, gemm_fma_1, {{"rows", "8"}})
HALIDE_REGISTER_GENERATOR_ALIAS(gemm_fma_6_prefetch, gemm_fma_1,
                                {{"rows", "6"}, {"prefetch", "true"}})
HALIDE_REGISTER_GENERATOR_ALIAS(gemm_fma_12_prefetch, gemm_fma_1,
                                {{"rows", "12"}, {"prefetch", "true"}})
HALIDE_REGISTER_GENERATOR_ALIAS(gemm_fma_1_wide, gemm_fma_1, {{"rows", "1"}, {"wide", "true"}})
HALIDE_REGISTER_GENERATOR_ALIAS(gemm_fma_2_wide, gemm_fma_1, {{"rows", "2"}, {"wide", "true"}})
HALIDE_REGISTER_GENERATOR_ALIAS(gemm_fma_3_wide, gemm_fma_1, {{"rows", "3"}, {"wide", "true"}})
HALIDE_REGISTER_GENERATOR_ALIAS(gemm_fma_4_wide, gemm_fma_1, {{"rows", "4"}, {"wide", "true"}})

HALIDE_REGISTER_GENERATOR(touchstone::optimized::generators::PoolWindow, pool_mean)
HALIDE_REGISTER_GENERATOR_ALIAS(pool_largest, pool_mean, {{"largest", "true"}})
HALIDE_REGISTER_GENERATOR(touchstone::optimized::generators::PoolWhole, pool_whole)

HALIDE_REGISTER_GENERATOR(touchstone::optimized::generators::RoundedToGrid, rounded_to_grid)
HALIDE_REGISTER_GENERATOR_ALIAS(rounded_in_steps, rounded_to_grid, {{"divides", "false"}})
