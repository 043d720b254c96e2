// Table of the compiled convolution kernels that convolution_tiles.h lists.
#include "optimized/kernels/convolution_table.h"

#include "optimized/kernels/convolution_tiles.h"

#define TOUCHSTONE_SYMBOL(isa, kind, step, blocks, columns, rows) \
  convolution_##kind##_##step##_##blocks##x##columns##x##rows##_##isa##_argv

extern "C" {
#define TOUCHSTONE_DECLARE(...) int TOUCHSTONE_SYMBOL(__VA_ARGS__)(void**);
TOUCHSTONE_CONVOLUTION_KERNELS(TOUCHSTONE_DECLARE)
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
      TOUCHSTONE_CONVOLUTION_KERNELS(TOUCHSTONE_ROW)
#undef TOUCHSTONE_ROW
  };
  return all;
}

}  // namespace touchstone::optimized
