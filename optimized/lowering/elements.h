// Loops over rows of elements of any number type: integers, bools, comparisons, selections.
#pragma once

#include <array>
#include <string_view>

#include "core/types.h"

namespace touchstone {

constexpr std::size_t most_operands = 3;

// Operands of a row; a step is 0 for an operand that is repeated along the row.
struct ElementRow {
  Index count = 0;
  void* to = nullptr;
  std::array<const void*, most_operands> from{};
  std::array<Index, most_operands> steps{};
};

// Returns false if an integer is divided by zero, or if an integer is to hold NaN or a number
// beyond 64 bits.
using ElementLoop = bool (*)(const ElementRow& row);

// Returns null if there is no loop for operands of type `from` and results of type `to`.
ElementLoop binary_loop(std::string_view op, Type from, Type to);
ElementLoop unary_loop(std::string_view op, Type from, Type to);
// Remainders of integers: `fmod` gives them the sign of the dividend.
ElementLoop remainder_loop(Type type, bool fmod);
// Selects elements of so many bytes by bools.
ElementLoop select_loop(int bytes);

}  // namespace touchstone
