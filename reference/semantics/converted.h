// Type constraints whose elements an operator converts to the type of others before it computes.
// They have no say in the type of the computation: T2 of Attention, whose values become T1.
#pragma once

#include <string_view>
#include <vector>

#include "model/schema.h"

namespace touchstone {

std::vector<std::string_view> find_converted(const Signature& signature);

}  // namespace touchstone
