// Loops over rows of one operand and of two: arithmetic, comparisons, casts, selections.
// element_rows.cc is compiled once per instruction set; each set gives the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/types.h"

namespace touchstone::optimized {

constexpr std::size_t most_operands = 3;

// Operands of a row; a step is 0 for an operand that is repeated along the row.
struct ElementRow {
  std::int64_t count = 0;
  void* to = nullptr;
  const void* from[most_operands]{};
  std::int64_t steps[most_operands]{};
  const double* numbers = nullptr;  // values of attributes
};

// Returns false for elements that only the reference computes: an integer is divided by zero, or is
// to hold NaN or a number beyond its range.
using ElementLoop = bool (*)(const ElementRow& row);

enum class RowOp {
  none,
  // Two operands of a type, and a result of that type; integers compute modulo 2^n.
  add,
  sub,
  mul,
  div,  // of floats
  min,  // of NaN: NaN
  max,
  fmod,       // float32: remainder with the sign of the first
  floor_mod,  // float32: remainder with the sign of the second
  // Two operands of a type, and a bool.
  equal,
  less,
  less_or_equal,
  greater,
  greater_or_equal,
  both,
  either,
  differ,
  // One operand.
  negate,
  magnitude,
  invert,
  is_nan,
};

struct ElementRows {
  // Returns null if there is no loop for operands of that type.
  ElementLoop (*loop)(RowOp op, Type from);
  // Conversions between numbers and bools, by truncation toward zero.
  ElementLoop (*cast)(Type from, Type to);
  // Selects elements of so many bytes by bools.
  ElementLoop (*select)(int bytes);
};

extern const ElementRows element_rows_sse41, element_rows_avx2, element_rows_avx512;

}  // namespace touchstone::optimized
