// Table of the compiled convolution kernels that convolution_tiles.h lists.
#include "optimized/kernels/convolution_table.h"

#include "optimized/kernels/convolution_tiles.h"

// Lists of the sets that are built.
#if TOUCHSTONE_BUILT_SSE41
#define TOUCHSTONE_BUILT_SSE41_KERNELS TOUCHSTONE_SSE41_KERNELS
#else
#define TOUCHSTONE_BUILT_SSE41_KERNELS(X)
#endif
#if TOUCHSTONE_BUILT_AVX2
#define TOUCHSTONE_BUILT_AVX2_KERNELS TOUCHSTONE_AVX2_KERNELS
#else
#define TOUCHSTONE_BUILT_AVX2_KERNELS(X)
#endif
#if TOUCHSTONE_BUILT_AVX512
#define TOUCHSTONE_BUILT_AVX512_KERNELS TOUCHSTONE_AVX512_KERNELS
#else
#define TOUCHSTONE_BUILT_AVX512_KERNELS(X)
#endif
#define TOUCHSTONE_BUILT_KERNELS(X)  \
  TOUCHSTONE_BUILT_AVX512_KERNELS(X) \
  TOUCHSTONE_BUILT_AVX2_KERNELS(X) TOUCHSTONE_BUILT_SSE41_KERNELS(X)

#define TOUCHSTONE_SYMBOL(isa, kind, step, blocks, columns, rows) \
  convolution_##kind##_##step##_##blocks##x##columns##x##rows##_##isa##_argv

extern "C" {
#define TOUCHSTONE_DECLARE(...) int TOUCHSTONE_SYMBOL(__VA_ARGS__)(void**);
TOUCHSTONE_BUILT_KERNELS(TOUCHSTONE_DECLARE)
#undef TOUCHSTONE_DECLARE
}

namespace touchstone::optimized {

const std::vector<ConvolutionKernel>& convolution_kernels() {
  static const std::vector<ConvolutionKernel> all{
#define TOUCHSTONE_ROW(isa, kind, step, blocks, columns, rows) \
  {Isa::isa,                                                   \
   ConvolutionKernel::Kind::kind,                              \
   step,                                                       \
   blocks,                                                     \
   columns,                                                    \
   rows,                                                       \
   TOUCHSTONE_SYMBOL(isa, kind, step, blocks, columns, rows),  \
   #kind " " #blocks "x" #columns "x" #rows " step " #step},
      TOUCHSTONE_BUILT_KERNELS(TOUCHSTONE_ROW)
#undef TOUCHSTONE_ROW
  };
  return all;
}

}  // namespace touchstone::optimized
