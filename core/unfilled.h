// Tensors that their maker fills.
#pragma once

#include "core/tensor.h"

namespace touchstone {

// Returns a tensor whose elements the caller writes all: a large one is not zeroed. Not for
// strings.
Tensor unfilled_tensor(Type type, Shape shape);

}  // namespace touchstone
