// Splits a part of a matmul into tiles for which there is a kernel, and packs B for them.
#include "optimized/kernels/gemm.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "optimized/kernels/compiled.h"
#include "optimized/kernels/strided_copy.h"
#include "optimized/kernels/tiles.h"
#include "optimized/kernels/vector_copies.h"
#include "optimized/problems/problem.h"
#include "reference/lists.h"

namespace touchstone::optimized {

TOUCHSTONE_DECLARE_KERNEL(gemm_fma_1);
TOUCHSTONE_DECLARE_KERNEL(gemm_fma_2);
TOUCHSTONE_DECLARE_KERNEL(gemm_fma_3);
TOUCHSTONE_DECLARE_KERNEL(gemm_fma_4);
TOUCHSTONE_DECLARE_KERNEL(gemm_fma_5);
TOUCHSTONE_DECLARE_KERNEL(gemm_fma_6);
TOUCHSTONE_DECLARE_KERNEL(gemm_fma_8);
TOUCHSTONE_DECLARE_KERNEL(gemm_fma_6_prefetch);
TOUCHSTONE_DECLARE_KERNEL(gemm_fma_12_prefetch);
TOUCHSTONE_DECLARE_KERNEL(gemm_fma_1_wide);
TOUCHSTONE_DECLARE_KERNEL(gemm_fma_2_wide);
TOUCHSTONE_DECLARE_KERNEL(gemm_fma_3_wide);
TOUCHSTONE_DECLARE_KERNEL(gemm_fma_4_wide);

namespace {

constexpr int max_rows = 12;

CompiledSet kernel(int rows, bool wide) {
  static const CompiledSet narrow[] = {{},
                                       TOUCHSTONE_KERNEL(gemm_fma_1),
                                       TOUCHSTONE_KERNEL(gemm_fma_2),
                                       TOUCHSTONE_KERNEL(gemm_fma_3),
                                       TOUCHSTONE_KERNEL(gemm_fma_4),
                                       TOUCHSTONE_KERNEL(gemm_fma_5),
                                       TOUCHSTONE_KERNEL(gemm_fma_6),
                                       {},
                                       TOUCHSTONE_KERNEL(gemm_fma_8)};
  static const CompiledSet wider[] = {{},
                                      TOUCHSTONE_KERNEL(gemm_fma_1_wide),
                                      TOUCHSTONE_KERNEL(gemm_fma_2_wide),
                                      TOUCHSTONE_KERNEL(gemm_fma_3_wide),
                                      TOUCHSTONE_KERNEL(gemm_fma_4_wide)};
  return wide ? wider[rows] : narrow[rows];
}

CompiledSet tall_kernel(int rows) {
  static const CompiledSet six = TOUCHSTONE_KERNEL(gemm_fma_6_prefetch);
  static const CompiledSet twelve = TOUCHSTONE_KERNEL(gemm_fma_12_prefetch);
  return rows == 12 ? twelve : six;
}

int registers(Isa isa) { return isa == Isa::avx512 ? 32 : 16; }
Index vector_of(Isa isa) { return isa == Isa::avx512 ? 16 : isa == Isa::avx2 ? 8 : 4; }

// Panels whose share of the depth stays in L2 while rows stream past.
constexpr Index panels_at_once = 8, max_panels = 4;

}  // namespace

Index Gemm::panel_columns() const { return panel_vectors * vector_of(isa_); }
Index Gemm::panels(Index columns) const { return ceil_div(columns, panel_columns()); }
Index Gemm::packed_size(Index depth, Index columns) const {
  return panels(columns) * panel_columns() * (depth + 1);
}

void Gemm::pack(const GemmOperand& b, const float* bias, float* packed, Index first,
                Index count) const {
  const Index width = panel_columns();
  for (Index p = first; p < first + count; ++p) {
    const Index from = p * width, columns = std::min(width, b.columns - from);
    float* row = packed + p * width * (b.depth + 1);
    for (Index n = 0; n < width; ++n) row[n] = bias != nullptr && n < columns ? bias[from + n] : 0;
    if (b.depth == 0) continue;  // `b.data` may be null: it has no element
    const float* source = b.data + from * b.column_stride;
    row += width;
    const StridedCopy move{{columns, b.depth, 1, 1, 1},
                           {b.column_stride, b.depth_stride, 0, 0, 0},
                           {1, width, 0, 0, 0}};
    run_strided_copy(isa_, move, sizeof(float), source, row);
    for (Index k = 0; columns < width && k < b.depth; ++k)
      std::fill(row + k * width + columns, row + (k + 1) * width, 0.0F);
  }
}

void Gemm::unpack(const float* packed, const GemmMatrix<float>& b) const {
  if (b.depth == 0) return;
  const Index width = panel_columns();
  for (Index p = 0; p < panels(b.columns); ++p) {
    const StridedCopy copy{{std::min(width, b.columns - p * width), b.depth, 1, 1, 1},
                           {1, width, 0, 0, 0},
                           {b.column_stride, b.depth_stride, 0, 0, 0}};
    run_strided_copy(isa_, copy, sizeof(float), packed + p * width * (b.depth + 1) + width,
                     b.data + p * width * b.column_stride);
  }
}

namespace {

// Bias for shares of the depth that add none.
constexpr float zeros[panel_vectors * 16] = {};

// A share of the reduction dimension k. The first share adds the bias and the residual, all others
// accumulate into C, and the last one clamps.
struct Tiles {
  Isa isa;
  const GemmProblem& product;
  Index panel, first_depth, depth;

  struct Rows {
    const float* data;
    Index step;
  };
  struct PrefetchShare {
    const float* data;
    std::int32_t prefetch_rate;  // kernels/halide/prefetch.h
  };

  void call(backends::CompiledKernel kernel, const Rows& from, const PrefetchShare& prefetch,
            Index first_panel, Index panels, Index first_row, Index rows) const {
    const GemmProblem& p = product;
    const bool first = first_depth == 0, last = first_depth + depth == p.depth;
    const Index column = first_panel * panel,
                columns = std::min(panels * panel, p.columns - column);
    const Index panel_stride = panel * (p.depth + 1);
    const float* packed = p.packed + first_panel * panel_stride;
    float* result = p.c + first_row * p.c_row + column;
    const bool residual = first && p.residual != nullptr;
    Strided<2> a(from.data, {depth, rows}, {1, from.step});
    Strided<3> b(packed + panel * (1 + first_depth), {panel, depth, panels},
                 {1, panel, panel_stride});
    Strided<2> bias(first ? packed : zeros, {panel, panels}, {1, first ? panel_stride : 0});
    Strided<2> added(residual ? p.residual + first_row * p.residual_row + column : result,
                     {columns, rows}, {1, residual ? p.residual_row : p.c_row});
    Strided<2> c(result, {columns, rows}, {1, p.c_row});
    bool add = residual || !first;
    float min = last ? p.min : -std::numeric_limits<float>::infinity();
    float max = last ? p.max : std::numeric_limits<float>::infinity();
    auto prefetch_address = reinterpret_cast<std::uintptr_t>(prefetch.data);
    auto prefetch_rate = prefetch.prefetch_rate;
    call_compiled(kernel, {&prefetch_address, &prefetch_rate, a.argument(), b.argument(),
                           bias.argument(), added.argument(), &add, &min, &max, c.argument()});
  }

  // Returns the part of B that is read next, after this share of these panels; null at the end.
  const float* next(Index first_panel, Index panels) const {
    const Index step = panel * (product.depth + 1), end = first_depth + depth;
    if (end < product.depth) return product.packed + first_panel * step + panel * (1 + end);
    const Index following = first_panel + panels;
    return following * panel < product.columns ? product.packed + following * step : nullptr;
  }

  // Copies each tile's rows of A: rows whose stride is a multiple of a page would evict each other
  // from the cache. Each tile prefetches its fraction of the next panels.
  void run_tall(int height, Index first_panel, Index panels, Index first_row, Index rows) const {
    alignas(64) std::array<float, max_rows * gemm_row_stride> copy;
    const float* const prefetch = next(first_panel, panels);
    const auto prefetch_rate = static_cast<std::int32_t>(prefetch ? 65536 * height / rows : 0);
    for (Index row = 0; row < rows; row += height) {
      const float* from = product.a + (first_row + row) * product.a_row + first_depth;
      vector_copies(isa).copy_rows(reinterpret_cast<const char*>(from), product.a_row * 4,
                                   reinterpret_cast<char*>(copy.data()), gemm_row_stride * 4,
                                   height, depth * 4);
      const PrefetchShare part{prefetch ? prefetch + depth * panel * row / rows : zeros,
                               prefetch_rate};
      call(of(tall_kernel(height), isa), {copy.data(), gemm_row_stride}, part, first_panel, panels,
           first_row + row, height);
    }
  }

  void run(int height, bool wide, Index first_panel, Index panels, Index first_row,
           Index rows) const {
    if (panels == 0 || rows == 0) return;
    const float* from = product.a + first_row * product.a_row + first_depth;
    call(of(kernel(height, wide), isa), {from, product.a_row}, {zeros, 0}, first_panel, panels,
         first_row, rows);
  }

  void run(int height, Index first_panel, Index panels, Index first_row, Index rows) const {
    const int group = height <= 4 ? max_gemm_tile_panels(registers(isa), height) : 1;
    const Index grouped = group > 1 ? panels / group * group : 0;
    run(height, true, first_panel, grouped, first_row, rows);
    run(height, false, first_panel + grouped, panels - grouped, first_row, rows);
  }

  // Handles fewer rows than the tallest tile, or slightly more.
  void rest(Index first_panel, Index panels, Index first_row, Index rows) const {
    if (rows == 0) return;
    const auto* end = std::end(gemm_tile_rows);
    if (rows > max_rows) {
      rest(first_panel, panels, first_row, gemm_tile_rows[0]);
      rest(first_panel, panels, first_row + gemm_tile_rows[0], rows - gemm_tile_rows[0]);
    } else if (std::find(std::begin(gemm_tile_rows), end, rows) == end) {
      rest(first_panel, panels, first_row, rows - rows / 2);
      rest(first_panel, panels, first_row + rows - rows / 2, rows / 2);
    } else {
      run(static_cast<int>(rows), first_panel, panels, first_row, rows);
    }
  }
};

}  // namespace

void Gemm::run(const GemmProblem& product, Index first_panel, Index panels, Index first_row,
               Index rows) const {
  const int tall = max_gemm_tile_rows(registers(isa_));
  const Index shares = std::max<Index>(ceil_div(product.depth, gemm_depth), 1);
  // Kernels count in 32 bits. Groups of panels stay whole.
  const Index at_once = std::clamp<Index>(
      farthest / 2 / (panel_columns() * (product.depth + 1)) / max_panels * max_panels, 1,
      panels_at_once);
  // One or two remaining rows do too little work per load, so one tall tile fewer is used and its
  // rows join them.
  Index whole = rows / tall * tall;
  if (tall == max_rows && whole > 0 && rows > whole && rows - whole <= 2) whole -= tall;
  // The stride of a tile of one row is not used, so rows may be as far apart as memory allows.
  const Index columns = panels_at_once * panel_columns();
  const bool far = std::max({product.a_row, product.c_row, product.residual_row}) >
                   (farthest - std::max<Index>(columns, gemm_depth)) / (max_rows - 1);
  for (Index panel = first_panel; panel < first_panel + panels; panel += at_once) {
    const Index wide = std::min(at_once, first_panel + panels - panel);
    for (Index share = 0; share < shares; ++share) {
      const Index depth = product.depth * share / shares;
      const Tiles tiles{isa_, product, panel_columns(), depth,
                        product.depth * (share + 1) / shares - depth};
      if (far) {
        for (Index row = 0; row < rows; ++row) tiles.rest(panel, wide, first_row + row, 1);
        continue;
      }
      if (whole > 0) tiles.run_tall(tall, panel, wide, first_row, whole);
      tiles.rest(panel, wide, first_row + whole, rows - whole);
    }
  }
}

bool takes_dots(Index rows, Index depth, Index columns) {
  constexpr Index min_depth = 256, min_numbers = Index{1} << 19;
  return rows == 1 && depth >= min_depth && depth * columns >= min_numbers;
}

ThinKernel thin_of(Isa isa) { return BY_ISA(isa, thin); }

DotsKernel dots_of(Isa isa) { return BY_ISA(isa, dots); }

}  // namespace touchstone::optimized
