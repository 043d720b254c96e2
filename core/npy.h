// NumPy's .npy files, the format of feeds and outputs. The bytes are untrusted; nothing in them is
// evaluated.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "core/limits.h"
#include "core/tensor.h"

namespace touchstone {

// Parses a file. `expected` is the type of raw items (numpy's V1, V2: its encoding of ml_dtypes
// types). Throws Error: usage for an invalid file or a type that the standard lacks.
Tensor parse_npy(std::span<const std::byte> bytes, Type expected, const Limits& limits);

// Serializes a tensor. Types that numpy lacks are written raw, one item per element: read them back
// with .view(ml_dtypes.bfloat16).
std::string serialize_npy(const Tensor& tensor);

}  // namespace touchstone
