// Convolution algorithm for few output channels, which would leave most lanes of a vector idle:
// neighboring points share a vector. The kernel is widened by a column of zeros for each further
// point. So an infinity or a NaN just outside of its window makes a point NaN. Rows that hold a NaN
// are therefore recomputed in order.
#pragma once

#include "optimized/kernels/convolution.h"
#include "optimized/kernels/in_order.h"

namespace touchstone::optimized {

class Narrow : public ConvolutionVariant {
 public:
  static bool fits(Isa isa, const ConvolutionShape& shape, ConvolutionAlgorithm algorithm);

  Narrow(Isa isa, const ConvolutionShape& shape);

  std::pair<Index, Index> blocks_of(Index) const override { return {0, 1}; }
  Index packed_size() const override { return product_.packed_size(); }
  void pack(const float* weights, float* packed) const override;
  Index rows_at_once() const override { return rows_at_once_; }
  Index rows_of_a_tile() const override { return 1; }
  Index scratch_size() const override { return made_size() + in_order_.scratch_size(); }
  std::string name() const override { return "narrow " + product_.kernels_chosen(); }
  void run(const ConvolutionRows& rows) const override;

 private:
  static constexpr Index together = 2;  // points that share a vector

  Index made_size() const { return rows_at_once_ * shape_.columns_out * share_; }

  Isa isa_;
  ConvolutionShape shape_;
  Index share_;  // lanes of one point
  Index rows_at_once_;
  Convolution product_;
  InOrder in_order_;
};

}  // namespace touchstone::optimized
