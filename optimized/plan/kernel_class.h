// Families of kernels, as conformance reports count them.
#pragma once

#include <string_view>

namespace touchstone::optimized {

enum class KernelClass {
  reference,
  convolution,        // direct, on channel blocks
  plain_convolution,  // direct, from a plain image of few channels
  winograd,
  narrow_convolution,
  depthwise,
  transposed_convolution,
  matmul,          // B constant, packed at planning
  dynamic_matmul,  // B packed in each run
  matrix_vector,
  contract,  // generated from spec/, on a device
  pool,
  pointwise,
  reduce,
  row_kernel,
  recurrent,  // layers: all input products at once, then step by step
  resample,   // interpolation on another grid
  fourier,
  copy,
  view,  // the same elements in another shape: no kernel
};

constexpr std::string_view name(KernelClass kernel_class) {
  switch (kernel_class) {
    case KernelClass::reference:
      return "reference";
    case KernelClass::convolution:
      return "convolution";
    case KernelClass::plain_convolution:
      return "plain-convolution";
    case KernelClass::winograd:
      return "winograd";
    case KernelClass::narrow_convolution:
      return "narrow-convolution";
    case KernelClass::depthwise:
      return "depthwise";
    case KernelClass::transposed_convolution:
      return "transposed-convolution";
    case KernelClass::matmul:
      return "matmul";
    case KernelClass::dynamic_matmul:
      return "dynamic-matmul";
    case KernelClass::matrix_vector:
      return "matrix-vector";
    case KernelClass::contract:
      return "contract";
    case KernelClass::pool:
      return "pool";
    case KernelClass::pointwise:
      return "pointwise";
    case KernelClass::reduce:
      return "reduce";
    case KernelClass::row_kernel:
      return "row-kernel";
    case KernelClass::recurrent:
      return "recurrent";
    case KernelClass::resample:
      return "resample";
    case KernelClass::fourier:
      return "fourier";
    case KernelClass::copy:
      return "copy";
    case KernelClass::view:
      return "view";
  }
  return "";
}

}  // namespace touchstone::optimized
