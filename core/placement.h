// Tensors over memory that the caller owns: an executor's arena, a user's buffer.
#pragma once

#include "core/tensor.h"

namespace touchstone {

// Returns a tensor over `memory`, which holds packed_bytes(type, count(shape)) and must outlive the
// tensor and its copies. `memory` is aligned for its elements and keeps its contents. Not for
// strings.
Tensor tensor_at(void* memory, Type type, Shape shape);

}  // namespace touchstone
