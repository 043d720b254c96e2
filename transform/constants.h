// Makes the constants that replacements of patterns and conversions insert.
#pragma once

#include <algorithm>

#include "core/numbers/convert.h"
#include "core/tensor.h"

namespace touchstone::transform {

inline Tensor tensor_of_integers(const IndexVector& list) {
  Tensor tensor(Type::int64, {list.size()});
  std::copy(list.begin(), list.end(), tensor.data<Index>());
  return tensor;
}

// Returns a scalar tensor.
inline Tensor tensor_of_number(double value, Type type) {
  Tensor tensor(type, {});
  set_number(tensor, 0, value);
  return tensor;
}
inline Tensor tensor_of_integer(Index value) {
  Tensor tensor(Type::int64, {});
  tensor.data<Index>()[0] = value;
  return tensor;
}

}  // namespace touchstone::transform
