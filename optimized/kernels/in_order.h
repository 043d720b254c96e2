// Computes rows of a convolution in the definition's order, from the original weights, rounding
// each product. Other algorithms use it for rows that they cannot compute faithfully; it is several
// times slower.
#pragma once

#include "optimized/kernels/convolution.h"
#include "optimized/kernels/ordered.h"

namespace touchstone::optimized {

const OrderedKernels& ordered_kernels(Isa isa);

class InOrder {
 public:
  InOrder(Isa isa, const ConvolutionShape& shape);
  Index scratch_size() const;  // in floats: the weights of a block

  // Computes blocks [first_block, first_block + blocks) of the rows; reads `weights.plain`, not the
  // packed weights.
  void run(const ConvolutionRows& rows, Index first_block, Index blocks) const;

 private:
  void turn(const float* weights, Index first, float* turned) const;

  Isa isa_;
  ConvolutionShape shape_;
};

}  // namespace touchstone::optimized
