// Tensors without memory: inputs of kernels that read only shapes, and outputs of dry runs.
#pragma once

#include "core/tensor.h"

namespace touchstone {

// A tensor whose elements must not be read, for kernels that read only shapes (operator family
// `measure`), of any size. Types under 8 bits are given as bytes, since kernels unpack them.
Tensor shape_only_tensor(Type type, const Shape& shape);

// While one exists, outputs bound by kernels of this thread have a type and a shape but no memory:
// they must not be accessed.
class ShapeOnlyOutputs {
 public:
  ShapeOnlyOutputs();
  ~ShapeOnlyOutputs();
  ShapeOnlyOutputs(const ShapeOnlyOutputs&) = delete;
  ShapeOnlyOutputs& operator=(const ShapeOnlyOutputs&) = delete;
};

}  // namespace touchstone
