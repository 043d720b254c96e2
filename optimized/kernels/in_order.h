// Rows of a convolution as its definition says: from the weights as they are, each product rounded
// and added in turn. Detours take it for what they would make wrong: it costs several times more.
#pragma once

#include "optimized/kernels/convolution.h"
#include "optimized/kernels/ordered.h"

namespace touchstone {

const OrderedKernels& ordered_kernels(Isa isa);

class InOrder {
 public:
  InOrder(Isa isa, const ConvolutionShape& shape);
  Index scratch_size() const;  // floats: the weights of a block

  // Blocks [first_block, first_block + blocks) of the rows; of `weights` it reads the plain ones.
  void run(const ConvolutionRows& rows, Index first_block, Index blocks) const;

 private:
  void turn(const float* weights, Index first, float* turned) const;

  Isa isa_;
  ConvolutionShape shape_;
};

}  // namespace touchstone
