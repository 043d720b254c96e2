// Cuts a part into tiles that there is a kernel for, and lays B out for them.
#include "optimized/kernels/gemm.h"

#include <algorithm>
#include <cstring>

#include "optimized/canonical/problem.h"
#include "optimized/kernels/compiled.h"
#include "optimized/kernels/move.h"
#include "optimized/kernels/tiles.h"
#include "reference/lists.h"

namespace touchstone {

TOUCHSTONE_DECLARE_KERNEL(gemm_fma_1);
TOUCHSTONE_DECLARE_KERNEL(gemm_fma_2);
TOUCHSTONE_DECLARE_KERNEL(gemm_fma_3);
TOUCHSTONE_DECLARE_KERNEL(gemm_fma_4);
TOUCHSTONE_DECLARE_KERNEL(gemm_fma_5);
TOUCHSTONE_DECLARE_KERNEL(gemm_fma_6);
TOUCHSTONE_DECLARE_KERNEL(gemm_fma_8);
TOUCHSTONE_DECLARE_KERNEL(gemm_fma_12);
TOUCHSTONE_DECLARE_KERNEL(gemm_fma_1_wide);
TOUCHSTONE_DECLARE_KERNEL(gemm_fma_2_wide);
TOUCHSTONE_DECLARE_KERNEL(gemm_fma_3_wide);
TOUCHSTONE_DECLARE_KERNEL(gemm_fma_4_wide);

namespace {

constexpr int most_rows = 12;

CompiledSet kernel(int rows, bool wide) {
  static const CompiledSet narrow[most_rows + 1] = {{},
                                                    TOUCHSTONE_KERNEL(gemm_fma_1),
                                                    TOUCHSTONE_KERNEL(gemm_fma_2),
                                                    TOUCHSTONE_KERNEL(gemm_fma_3),
                                                    TOUCHSTONE_KERNEL(gemm_fma_4),
                                                    TOUCHSTONE_KERNEL(gemm_fma_5),
                                                    TOUCHSTONE_KERNEL(gemm_fma_6),
                                                    {},
                                                    TOUCHSTONE_KERNEL(gemm_fma_8),
                                                    {},
                                                    {},
                                                    {},
                                                    TOUCHSTONE_KERNEL(gemm_fma_12)};
  static const CompiledSet wider[] = {{},
                                      TOUCHSTONE_KERNEL(gemm_fma_1_wide),
                                      TOUCHSTONE_KERNEL(gemm_fma_2_wide),
                                      TOUCHSTONE_KERNEL(gemm_fma_3_wide),
                                      TOUCHSTONE_KERNEL(gemm_fma_4_wide)};
  return wide ? wider[rows] : narrow[rows];
}

int registers(Isa isa) { return isa == Isa::avx512 ? 32 : 16; }
Index vector_of(Isa isa) { return isa == Isa::avx512 ? 16 : isa == Isa::avx2 ? 8 : 4; }

// A share of k that leaves a panel in the first cache while rows pass by, and a share of the rows
// of A that stays in the second while panels do.
constexpr Index most_depth = 384, most_rows_at_once = 384, most_panels = 4;

}  // namespace

Index Gemm::panel_columns() const { return panel_vectors * vector_of(isa_); }
Index Gemm::panels(Index columns) const { return ceil_div(columns, panel_columns()); }
Index Gemm::packed_size(Index depth, Index columns) const {
  return panels(columns) * panel_columns() * (depth + 1);
}

void Gemm::pack(const Factor& b, const float* bias, float* packed, Index first, Index count) const {
  const Index width = panel_columns();
  for (Index p = first; p < first + count; ++p) {
    const Index from = p * width, columns = std::min(width, b.columns - from);
    float* row = packed + p * width * (b.depth + 1);
    for (Index n = 0; n < width; ++n) row[n] = bias != nullptr && n < columns ? bias[from + n] : 0;
    const float* source = b.data + from * b.column_step;
    row += width;
    const Move move{
        {columns, b.depth, 1, 1, 1}, {b.column_step, b.depth_step, 0, 0, 0}, {1, width, 0, 0, 0}};
    run_move(isa_, move, sizeof(float), source, row);
    for (Index k = 0; columns < width && k < b.depth; ++k)
      std::fill(row + k * width + columns, row + (k + 1) * width, 0.0F);
  }
}

namespace {

// Columns that no bias is added to.
constexpr float zeros[panel_vectors * 16] = {};

// A share of k, and what happens to its sums: the first share adds the bias and the residual, each
// other what is in C already, and the last one clamps.
struct Tiles {
  Isa isa;
  const Product& product;
  Index panel, first_depth, depth;

  void run(int height, bool wide, Index first_panel, Index panels, Index first_row,
           Index rows) const {
    if (panels == 0 || rows == 0) return;
    const Product& p = product;
    const bool first = first_depth == 0, last = first_depth + depth == p.depth;
    const Index from = first_panel * panel, columns = std::min(panels * panel, p.columns - from);
    const Index panel_step = panel * (p.depth + 1);
    const float* packed = p.packed + first_panel * panel_step;
    float* result = p.c + first_row * p.c_row + from;
    const bool residual = first && p.residual != nullptr;
    Strided<2> a(p.a + first_row * p.a_row + first_depth, {depth, rows}, {1, p.a_row});
    Strided<3> b(packed + panel * (1 + first_depth), {panel, depth, panels},
                 {1, panel, panel_step});
    Strided<2> bias(first ? packed : zeros, {panel, panels}, {1, first ? panel_step : 0});
    Strided<2> added(residual ? p.residual + first_row * p.residual_row + from : result,
                     {columns, rows}, {1, residual ? p.residual_row : p.c_row});
    Strided<2> c(result, {columns, rows}, {1, p.c_row});
    bool add = residual || !first;
    float least = last ? p.least : -std::numeric_limits<float>::infinity();
    float most = last ? p.most : std::numeric_limits<float>::infinity();
    call_compiled(of(kernel(height, wide), isa),
                  {a.argument(), b.argument(), bias.argument(), added.argument(), &add, &least,
                   &most, c.argument()});
  }

  void run(int height, Index first_panel, Index panels, Index first_row, Index rows) const {
    const int group = height <= 4 ? widest_product(registers(isa), height) : 1;
    const Index grouped = group > 1 ? panels / group * group : 0;
    run(height, true, first_panel, grouped, first_row, rows);
    run(height, false, first_panel + grouped, panels - grouped, first_row, rows);
  }

  // Fewer rows than the tallest tile has.
  void rest(Index first_panel, Index panels, Index first_row, Index rows) const {
    if (rows == 0) return;
    const auto* end = std::end(product_rows);
    if (std::find(std::begin(product_rows), end, rows) == end) {
      rest(first_panel, panels, first_row, rows - rows / 2);
      rest(first_panel, panels, first_row + rows - rows / 2, rows / 2);
    } else {
      run(static_cast<int>(rows), first_panel, panels, first_row, rows);
    }
  }
};

}  // namespace

void Gemm::run(const Product& product, Index first_panel, Index panels, Index first_row,
               Index rows) const {
  const int tall = tallest_product(registers(isa_));
  const Index shares = std::max<Index>(ceil_div(product.depth, most_depth), 1);
  // A kernel counts in 32 bits. Groups of panels stay whole.
  const Index at_once = std::max<Index>(
      farthest / 2 / (panel_columns() * (product.depth + 1)) / most_panels * most_panels, 1);
  for (Index panel = first_panel; panel < first_panel + panels; panel += at_once) {
    const Index wide = std::min(at_once, first_panel + panels - panel);
    for (Index at = first_row; at < first_row + rows; at += most_rows_at_once) {
      const Index left = std::min(most_rows_at_once, first_row + rows - at);
      const Index whole = left / tall * tall;
      for (Index share = 0; share < shares; ++share) {
        const Index depth = product.depth * share / shares;
        const Tiles tiles{isa_, product, panel_columns(), depth,
                          product.depth * (share + 1) / shares - depth};
        tiles.run(tall, panel, wide, at, whole);
        tiles.rest(panel, wide, at + whole, left - whole);
      }
    }
  }
}

}  // namespace touchstone
