// Injected faults of one input or output tensor: a lost element, swapped rows, NaN read as zero.
// Each is a function of the tensor alone.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/tensor.h"

namespace touchstone {

struct TensorFault {
  std::string name;  // "NaN is 0"
  std::function<Tensor(const Tensor&)> of;
};

// The faults for tensors of this type. Some change nothing.
std::vector<TensorFault> tensor_faults(Type type);

// True if type, shape and bits are equal.
bool equal(const Tensor& a, const Tensor& b);

}  // namespace touchstone
