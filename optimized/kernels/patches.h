// Patches of a plain image in panels of a matmul: one row per term of a window, one column per
// output point. patches.cc is compiled once per instruction set.
#pragma once

#include <cstdint>

namespace touchstone::optimized {

// Consecutive output points of one output row, within one panel.
struct PatchRun {
  float* to;           // first column of the run, in the panel's first row
  std::int64_t x;      // first output coordinate in the row
  std::int64_t count;  // columns
};

// The innermost dimension of a window.
struct PatchTap {
  std::int64_t low, high;  // output coordinates whose input lies in the image
  std::int64_t shift;      // input coordinate of output coordinate 0
  std::int64_t stride;
};

// Writes one row of each run, `row` rows below the first. `lines[k]` is the offset in `plane` of
// the input row that run k reads, or negative where the row is padding. Padding is zero.
using PatchKernel = void (*)(const PatchRun* runs, const std::int64_t* lines, std::int64_t count,
                             const float* plane, const PatchTap& tap, std::int64_t row);
void patches_sse41(const PatchRun* runs, const std::int64_t* lines, std::int64_t count,
                   const float* plane, const PatchTap& tap, std::int64_t row);
void patches_avx2(const PatchRun* runs, const std::int64_t* lines, std::int64_t count,
                  const float* plane, const PatchTap& tap, std::int64_t row);
void patches_avx512(const PatchRun* runs, const std::int64_t* lines, std::int64_t count,
                    const float* plane, const PatchTap& tap, std::int64_t row);

// Columns of a panel, by instruction set: two vectors.
inline constexpr std::int64_t patch_panel_sse41 = 8, patch_panel_avx2 = 16, patch_panel_avx512 = 32;

}  // namespace touchstone::optimized
