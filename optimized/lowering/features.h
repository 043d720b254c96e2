// Features of classical models: numbers of four types, which these models read as floats.
#pragma once

#include "core/tensor.h"

namespace touchstone::optimized {

inline bool is_feature(Type type) {
  return type == Type::float32 || type == Type::float64 || type == Type::int32 ||
         type == Type::int64;
}

// Calls f<T>() with the C++ type of a feature.
template <class F>
void with_feature(Type type, F f) {
  if (type == Type::float32) return f.template operator()<float>();
  if (type == Type::float64) return f.template operator()<double>();
  if (type == Type::int32) return f.template operator()<std::int32_t>();
  f.template operator()<std::int64_t>();
}

// Returns the elements as floats, each rounded once: those of `x` itself, or `converted`, which
// must hold as many.
inline const float* floats_of(const Tensor& x, float* converted) {
  if (x.type() == Type::float32) return x.data<float>();
  with_feature(x.type(), [&]<class T>() {
    const T* const from = x.data<T>();
    for (Index k = 0; k < x.size(); ++k) converted[k] = static_cast<float>(from[k]);
  });
  return converted;
}

}  // namespace touchstone::optimized
