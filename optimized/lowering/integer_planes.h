// Images of 8-bit integers for convolutions of few products: a plane for each channel, with its
// padding, and sums along the rows of a plane.
#pragma once

#include "optimized/kernels/integer_rows.h"
#include "optimized/lowering/integer_windows.h"
#include "optimized/lowering/kept_memory.h"
#include "optimized/plan/step.h"

namespace touchstone::optimized {

class IntegerPlanes {
 public:
  static constexpr Index most_products = 128;  // of a result

  // Arranges planes of `channels` channels in all. Returns false if they would be much larger than
  // what the windows read.
  bool arrange(const Windows& windows, Index channels);
  // Weights of all filters, without their zero points: at most 9 bits.
  void weigh(const std::int32_t* weights, Index filters);
  // Copies an image; `zero` is the number of the padding.
  void fill(RunState& state, const std::uint8_t* image, bool is_signed, std::int32_t zero);

  Index width() const { return windows_.extents.back(); }  // results of a row
  // Computes results [n, n + count) of a row of a filter, at most most_columns; writes whole
  // vectors.
  void sum(Index filter, Index row, Index n, Index count, std::int32_t* sums) const;

 private:
  Index start_of(Index row) const;

  Windows windows_;
  Index channels_ = 0, products_ = 0, plane_ = 0;
  IndexVector padded_, strides_;
  bool is_signed_ = false;
  std::int32_t zero_ = 0;
  KeptMemory taps_memory_, padded_memory_, weights_memory_;
  Index* taps_ = nullptr;  // of each product
  std::int32_t *weights_ = nullptr, *totals_ = nullptr;
  std::uint8_t* image_ = nullptr;
};

}  // namespace touchstone::optimized
