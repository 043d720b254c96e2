// Text of values in reports: decimal, and hex that shows every bit.
#pragma once

#include <string>

#include "core/tensor.h"
#include "reference/semantics/bounded.h"

namespace touchstone::judge {

std::string element_text(const Tensor& tensor, Index element);  // "0.1 (0x3dcccccd)"
std::string bounded_text(const Bounded& value);  // "0.1 (0x1.99...p-4) +- 6e-9", "{2, 3}"
std::string index_text(const Shape& shape, Index element);  // "[0,3,1]"

}  // namespace touchstone::judge
