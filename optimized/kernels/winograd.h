// 3x3 convolutions of stride 1 by Winograd's F(m x m, 3 x 3), m = 2 or 4. The input is transformed
// into (m + 2)^2 maps with one point per tile. Each goes through a 1x1 convolution, and the results
// are transformed back. Takes 2.25 or 4 times fewer products, at the price of larger weights and of
// rounding. A NaN or an infinity would reach all m x m points of its tile, and large numbers
// overflow on the way. Rows of tiles that read such values are summed in order instead.
#pragma once

#include <memory>
#include <vector>

#include "optimized/kernels/convolution.h"
#include "optimized/kernels/in_order.h"

namespace touchstone::optimized {

class Winograd : public ConvolutionVariant {
 public:
  // Returns m, the points per tile side, if the cost model or `way` selects Winograd, else 0.
  static Index choose(Isa isa, const ConvolutionShape& shape, ConvolutionAlgorithm algorithm);

  // `points`: m. Threads split the work by rows if the weights stay in a core's cache or there are
  // many sets of rows anyway. Otherwise they split it by output channels, and each transforms the
  // whole input.
  Winograd(Isa isa, const ConvolutionShape& shape, Index points, Index threads = 1);
  Index parts() const override { return parts_; }
  std::pair<Index, Index> blocks_of(Index part) const override;
  Index packed_size() const override;
  void pack(const float* weights, float* packed) const override;
  Index rows_at_once() const override { return rows_at_once_; }  // a multiple of m, or all
  Index rows_of_a_tile() const override { return points_; }
  std::string name() const override { return "winograd " + std::to_string(points_); }
  Index scratch_size() const override;  // in floats, for rows_at_once() rows

  // As Convolution::run; at most rows_at_once() rows, the first a multiple of m.
  void run(const ConvolutionRows& rows) const override;

 private:
  void run_in_tiles(const ConvolutionRows& rows) const;
  bool stays_finite(const ConvolutionRows& rows, Index first, Index count) const;
  std::pair<Index, Index> products_of(Index part) const;  // range of parts of product_: from, to
  Index tiles(Index rows) const;
  Index plane(Index channels, Index rows) const;  // floats of one of the maps

  Isa isa_;
  Index points_, lanes_, channels_in_, channels_out_, rows_out_, columns_out_;
  Index rows_at_once_ = 0, parts_ = 1;
  std::unique_ptr<Convolution> product_;
  InOrder in_order_;
  std::vector<float> no_bias_;
};

}  // namespace touchstone::optimized
