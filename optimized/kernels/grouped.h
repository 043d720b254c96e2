// Convolution algorithm for groups whose channels do not fill whole blocks: the lanes of an output
// block belong to several groups. A step of the sum multiplies, for each lane, a channel of its
// group; no lane reads a channel of another group.
#pragma once

#include <cstdint>
#include <vector>

#include "optimized/kernels/convolution.h"
#include "optimized/kernels/grouped_tiles.h"

namespace touchstone::optimized {

class Grouped : public ConvolutionVariant {
 public:
  // `in`, `out`: channels of a group. True if no step of a block reads more than two input blocks.
  static bool fits(Isa isa, Index groups, Index in, Index out);

  Grouped(Isa isa, const ConvolutionShape& shape);

  Index parts() const override;
  std::pair<Index, Index> blocks_of(Index part) const override;
  Index packed_size() const override;
  void pack(const float* weights, float* packed) const override;
  Index rows_at_once() const override { return shape_.rows_out; }
  Index rows_of_a_tile() const override { return 1; }
  Index scratch_size() const override { return 0; }
  std::string name() const override { return "grouped by " + std::to_string(shape_.channels_in); }
  void run(const ConvolutionRows& rows) const override;

 private:
  Index block_weights() const;

  Isa isa_;
  ConvolutionShape shape_;
  Index lanes_, blocks_, blocks_of_a_part_;
  std::vector<int> sources_;          // of each block; the others as in GroupedTiles
  std::vector<std::int64_t> steps_;   // [block][step][2]
  std::vector<std::int32_t> picks_;   // [block][step][lane]
  std::vector<std::int32_t> widths_;  // of tiles
};

}  // namespace touchstone::optimized
