// Tensors in memory that somebody else keeps: an executor's arena, a caller's buffer.
#pragma once

#include "core/tensor.h"

namespace touchstone {

// `memory` is aligned as its elements are, holds packed_bytes(type, count(shape)) and outlives the
// tensor and its copies. What stands there is taken as it is. Not for strings.
Tensor tensor_at(void* memory, Type type, Shape shape);

}  // namespace touchstone
