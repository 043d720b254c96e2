// Injected faults of one value: of each tensor in it (tensor_faults.h), and of a container's items.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/tensor.h"

namespace touchstone {

struct ValueFault {
  std::string name;                    // "NaN is 0", "the last is lost"
  std::function<bool(Value&)> change;  // false if it changes nothing
};

std::vector<ValueFault> value_faults(const Value& value);

// True for values that a careless check takes for missing: an empty tensor or one of zeros, or a
// sequence of such tensors.
bool holds_no_element(const Value& value);
bool holds_zeros_alone(const Value& value);

}  // namespace touchstone
