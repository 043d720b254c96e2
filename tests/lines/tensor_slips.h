// What may go wrong with one tensor, given or answered: an element lost, a row taken for another,
// NaN for zero. Each is a function of the tensor alone.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/tensor.h"

namespace touchstone {

struct TensorSlip {
  std::string name;  // "NaN is 0"
  std::function<Tensor(const Tensor&)> of;
};

// Those of a tensor of this type. Some change nothing.
std::vector<TensorSlip> tensor_slips(Type type);

// The same type, shape and bits.
bool equal(const Tensor& a, const Tensor& b);

}  // namespace touchstone
