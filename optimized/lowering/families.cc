// Tables of the kernel families.
#include "optimized/lowering/families.h"

#include "optimized/lowering/fused.h"

// A bundle names its own (the option TOUCHSTONE_BUNDLE of CMake).
#ifndef TOUCHSTONE_FAMILIES
// clang-format off
#define TOUCHSTONE_FAMILIES(X) \
  X(recurrent) X(integer_matmul) X(quantise) X(resample) X(patch_convolution) \
  X(volume_convolution) X(convolution) X(deformable_convolution) X(transposed_convolution) \
  X(whole_pool) X(pool) X(products) X(trees) X(distances) X(bodies) X(containers) X(fourier) \
  X(integer_convolution) X(roi_align) X(max_roi_pool) X(max_unpool) X(scatter) X(topk) \
  X(suppression) X(nonzero) X(unique) X(determinants) X(grid_sample) X(attention) X(row_norms) \
  X(row_statistics) X(double_norms) X(local_response) X(rotary_embedding) X(col2im) \
  X(gather_elements) X(fills) X(draws) X(split) X(sequence_moves) X(running_sums) \
  X(linear_models) X(features) X(encoders) X(reductions) X(extremes) X(elements) X(codes) \
  X(moves) X(pads) X(placements) X(planned_moves)
// clang-format on
#endif
#ifndef TOUCHSTONE_FUSED_FAMILIES
#define TOUCHSTONE_FUSED_FAMILIES(X) X(attention_chain) X(quantised_sum) X(scaled_matmul)
#endif

namespace touchstone::optimized {

std::span<const KernelFamily* const> kernel_families() {
#define TOUCHSTONE_ROW(name) &name##_family,
  static const std::vector<const KernelFamily*> all{TOUCHSTONE_FAMILIES(TOUCHSTONE_ROW)};
  return all;
}

std::span<const FusedFamily* const> fused_families() {
  static const std::vector<const FusedFamily*> all{TOUCHSTONE_FUSED_FAMILIES(TOUCHSTONE_ROW)};
#undef TOUCHSTONE_ROW
  return all;
}

#define TOUCHSTONE_NAME(name) #name,
std::span<const std::string_view> family_names() {
  static const std::vector<std::string_view> all{TOUCHSTONE_FAMILIES(TOUCHSTONE_NAME)};
  return all;
}
std::span<const std::string_view> fused_family_names() {
  static const std::vector<std::string_view> all{TOUCHSTONE_FUSED_FAMILIES(TOUCHSTONE_NAME)};
  return all;
}
#undef TOUCHSTONE_NAME

}  // namespace touchstone::optimized
