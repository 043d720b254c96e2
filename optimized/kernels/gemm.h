// The product of two matrices, with what follows it: C = clamp(A B + bias + residual). B is packed
// into panels of two vectors of columns, once where it is constant; the bias is the panel's first
// row. Every element is summed in the same order, whatever the tile and the part.
#pragma once

#include <limits>

#include "core/shape.h"
#include "optimized/kernels/dots.h"
#include "optimized/registry/isa.h"

namespace touchstone {

struct Product {
  const float* a = nullptr;  // A[m][k] is a[m * a_row + k]
  Index a_row = 0;
  const float* packed = nullptr;    // B and the bias, as pack() lays them
  const float* residual = nullptr;  // null: there is none; it may be C itself
  Index residual_row = 0;
  float* c = nullptr;
  Index c_row = 0;
  Index depth = 0, columns = 0;
  float least = -std::numeric_limits<float>::infinity();
  float most = std::numeric_limits<float>::infinity();
};

// A matrix that is to be packed: B[k][n] is data[k * depth_step + n * column_step].
struct Factor {
  const float* data;
  Index depth_step, column_step;
  Index depth, columns;
};

class Gemm {
 public:
  explicit Gemm(Isa isa) : isa_(isa) {}
  Index panel_columns() const;
  Index panels(Index columns) const;
  Index packed_size(Index depth, Index columns) const;
  // Writes panels [first, first + count); `bias` is null or has a number for each column. Panels
  // are read quickest where `packed` begins at a multiple of 64 bytes.
  void pack(const Factor& b, const float* bias, float* packed, Index first, Index count) const;
  // Rows [first_row, first_row + rows) of the columns of those panels.
  void run(const Product& product, Index first_panel, Index panels, Index first_row,
           Index rows) const;

 private:
  Isa isa_;
};

// Whether a product of one row is to read its constant matrix as it stands, which lies transposed,
// a column after the other: it is bound by memory either way, and what is not packed takes neither
// memory nor time at load. Small ones, and short columns whose sums have to be brought together
// often, are as well packed; so are two rows, which a tile takes faster.
bool takes_dots(Index rows, Index depth, Index columns);
DotsKernel dots_of(Isa isa);

}  // namespace touchstone
