// Bitwise equality of two values: a NaN equals itself, and -0 differs from 0.
#pragma once

#include <algorithm>
#include <string>

#include "model/model.h"

namespace touchstone {

inline bool same_bits(const Value& a, const Value& b) {
  if (a.absent() || b.absent()) return a.absent() && b.absent();
  if (!a.is_tensor() || !b.is_tensor()) return serialize_value(a) == serialize_value(b);
  const Tensor &x = a.tensor(), &y = b.tensor();
  if (x.type() != y.type() || !(x.shape() == y.shape())) return false;
  if (x.type() == Type::string)
    return std::equal(x.data<std::string>(), x.data<std::string>() + x.size(),
                      y.data<std::string>());
  return std::equal(x.bytes().begin(), x.bytes().end(), y.bytes().begin(), y.bytes().end());
}

}  // namespace touchstone
