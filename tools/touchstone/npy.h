// NumPy's .npy files: how feeds come in and outputs go out. The bytes are hostile; nothing in them
// is evaluated.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "core/limits.h"
#include "core/tensor.h"

namespace touchstone {

// `expected` decides what raw items (numpy's V1, V2: how it saves the types of ml_dtypes) mean.
// Throws Error: usage for what is no .npy or holds a type that the standard has not.
Tensor parse_npy(std::span<const std::byte> bytes, Type expected, const Limits& limits);

// Types that numpy has not are written raw, one item an element: read them back with
// .view(ml_dtypes.bfloat16).
std::string serialize_npy(const Tensor& tensor);

}  // namespace touchstone
