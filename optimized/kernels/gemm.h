// Matmul of float32 with a fused epilogue: C = clamp(A B + bias + residual). B is packed into
// panels of two vectors of columns, once if it is constant; the bias is the panel's first row. The
// summation order of an element does not depend on tiles or parts.
#pragma once

#include <limits>

#include "core/shape.h"
#include "optimized/kernels/dots.h"
#include "optimized/kernels/thin.h"
#include "optimized/registry/isa.h"

namespace touchstone::optimized {

struct GemmProblem {
  const float* a = nullptr;  // A[m][k] is a[m * a_row + k]
  Index a_row = 0;
  const float* packed = nullptr;    // B and the bias, as pack() writes them
  const float* residual = nullptr;  // null: no residual; may alias C
  Index residual_row = 0;
  float* c = nullptr;
  Index c_row = 0;
  Index depth = 0, columns = 0;
  float min = -std::numeric_limits<float>::infinity();
  float max = std::numeric_limits<float>::infinity();
};

// A product without residual and clamp, whose C is contiguous.
inline GemmProblem plain_product(const float* a, Index a_row, const float* packed, float* c,
                                 Index depth, Index columns) {
  GemmProblem made;
  made.a = a;
  made.a_row = a_row;
  made.packed = packed;
  made.c = c;
  made.c_row = columns;
  made.depth = depth;
  made.columns = columns;
  return made;
}

// Unpacked matrix: B[k][n] is data[k * depth_stride + n * column_stride].
template <class T>
struct GemmMatrix {
  T* data;
  Index depth_stride, column_stride;
  Index depth, columns;
};
using GemmOperand = GemmMatrix<const float>;

class Gemm {
 public:
  explicit Gemm(Isa isa) : isa_(isa) {}
  Index panel_columns() const;
  Index panels(Index columns) const;
  Index packed_size(Index depth, Index columns) const;
  // Writes panels [first, first + count); `bias` is null or holds one number per column. `packed`
  // should be aligned to 64 bytes, for speed.
  void pack(const GemmOperand& b, const float* bias, float* packed, Index first, Index count) const;
  // Writes the elements that pack() read.
  void unpack(const float* packed, const GemmMatrix<float>& b) const;
  // Computes rows [first_row, first_row + rows) of the columns of those panels.
  void run(const GemmProblem& product, Index first_panel, Index panels, Index first_row,
           Index rows) const;

 private:
  Isa isa_;
};

// True if a product of one row should read its constant, transposed matrix in place. It is
// memory-bound either way, and an unpacked matrix costs neither memory nor load time. Small
// matrices and short columns, whose sums need many horizontal adds, are better packed; so are two
// rows, for which a tile is faster.
bool takes_dots(Index rows, Index depth, Index columns);
DotsKernel dots_of(Isa isa);
ThinKernel thin_of(Isa isa);

}  // namespace touchstone::optimized
