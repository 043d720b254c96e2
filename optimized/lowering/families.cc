// Tables of the kernel families.
#include "optimized/lowering/families.h"

#include "optimized/lowering/fused.h"

namespace touchstone::optimized {

std::span<const KernelFamily* const> kernel_families() {
  static const std::vector<const KernelFamily*> all{
      &recurrent_family,
      &integer_matmul_family,
      &quantise_family,
      &resample_family,
      &patch_convolution_family,
      &volume_convolution_family,
      &convolution_family,
      &deformable_convolution_family,
      &transposed_convolution_family,
      &whole_pool_family,
      &pool_family,
      &products_family,
      &trees_family,
      &distances_family,
      &bodies_family,
      &containers_family,
      &fourier_family,
      &integer_convolution_family,
      &roi_align_family,
      &max_roi_pool_family,
      &max_unpool_family,
      &scatter_family,
      &topk_family,
      &suppression_family,
      &nonzero_family,
      &unique_family,
      &determinants_family,
      &grid_sample_family,
      &attention_family,
      &row_norms_family,
      &row_statistics_family,
      &double_norms_family,
      &local_response_family,
      &rotary_embedding_family,
      &col2im_family,
      &gather_elements_family,
      &fills_family,
      &draws_family,
      &split_family,
      &sequence_moves_family,
      &running_sums_family,
      &linear_models_family,
      &features_family,
      &encoders_family,
      &reductions_family,
      &extremes_family,
      &elements_family,
      &codes_family,
      &moves_family,
      &pads_family,
      &placements_family,
      &planned_moves_family,
  };
  return all;
}

std::span<const FusedFamily* const> fused_families() {
  static const std::vector<const FusedFamily*> all{&attention_chain_family, &quantised_sum_family,
                                                   &scaled_matmul_family};
  return all;
}

}  // namespace touchstone::optimized
