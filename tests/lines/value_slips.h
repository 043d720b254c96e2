// What may go wrong with one value: with each tensor in it (tensor_slips.h), and with what a
// container holds.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/tensor.h"

namespace touchstone {

struct ValueSlip {
  std::string name;                    // "NaN is 0", "the last is lost"
  std::function<bool(Value&)> change;  // false where it changes nothing
};

std::vector<ValueSlip> value_slips(const Value& value);

// What a careless test takes for none: a tensor without elements or of zeros, a sequence of such.
bool holds_no_element(const Value& value);
bool holds_zeros_alone(const Value& value);

}  // namespace touchstone
