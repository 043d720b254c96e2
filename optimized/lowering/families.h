// Rows of the table of kernel families: one function a file of optimized/lowering.
#pragma once

#include <span>

#include "optimized/lowering/lowering.h"

namespace touchstone::optimized {

extern const KernelFamily attention_family;
extern const KernelFamily bodies_family;
extern const KernelFamily codes_family;
extern const KernelFamily col2im_family;
extern const KernelFamily containers_family;
extern const KernelFamily convolution_family;
extern const KernelFamily deformable_convolution_family;
extern const KernelFamily determinants_family;
extern const KernelFamily distances_family;
extern const KernelFamily double_norms_family;
extern const KernelFamily draws_family;
extern const KernelFamily elements_family;
extern const KernelFamily encoders_family;
extern const KernelFamily features_family;
extern const KernelFamily extremes_family;
extern const KernelFamily fourier_family;
extern const KernelFamily fills_family;
extern const KernelFamily gather_elements_family;
extern const KernelFamily grid_sample_family;
extern const KernelFamily integer_convolution_family;
extern const KernelFamily integer_matmul_family;
extern const KernelFamily linear_models_family;
extern const KernelFamily local_response_family;
extern const KernelFamily max_roi_pool_family;
extern const KernelFamily max_unpool_family;
extern const KernelFamily moves_family;
extern const KernelFamily nonzero_family;
extern const KernelFamily pads_family;
extern const KernelFamily patch_convolution_family;
extern const KernelFamily placements_family;
extern const KernelFamily planned_moves_family;
extern const KernelFamily pool_family;
extern const KernelFamily products_family;
extern const KernelFamily quantise_family;
extern const KernelFamily recurrent_family;
extern const KernelFamily reductions_family;
extern const KernelFamily resample_family;
extern const KernelFamily roi_align_family;
extern const KernelFamily rotary_embedding_family;
extern const KernelFamily row_norms_family;
extern const KernelFamily row_statistics_family;
extern const KernelFamily running_sums_family;
extern const KernelFamily scatter_family;
extern const KernelFamily sequence_moves_family;
extern const KernelFamily split_family;
extern const KernelFamily suppression_family;
extern const KernelFamily topk_family;
extern const KernelFamily transposed_convolution_family;
extern const KernelFamily trees_family;
extern const KernelFamily unique_family;
extern const KernelFamily volume_convolution_family;
extern const KernelFamily whole_pool_family;

// In the order in which they are asked.
std::span<const KernelFamily* const> kernel_families();
// The names in TOUCHSTONE_FAMILIES, in the same order.
std::span<const std::string_view> family_names();

}  // namespace touchstone::optimized
