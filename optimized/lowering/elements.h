// Loops over rows of elements of any number type: integers, bools, comparisons, selections.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/types.h"
#include "optimized/kernels/element_rows.h"
#include "optimized/kernels/for_integer.h"
#include "optimized/plan/step.h"
#include "reference/facts.h"

namespace touchstone::optimized {

// A loop, the values of attributes that it reads, and what an element costs.
struct ElementFunction {
  ElementLoop loop = nullptr;
  std::array<double, 2> numbers{};
  double nanoseconds = nanoseconds_an_element;
  ElementLoop second = nullptr;  // or null: runs on the float32 results of the first
};

// Loops of the instruction set in use.
const ElementRows& element_rows();
// Returns null if there is no loop for operands of type `from` and results of type `to`.
ElementLoop binary_loop(std::string_view op, Type from, Type to);
ElementLoop unary_loop(std::string_view op, Type from, Type to);
// Returns a cast by way of float32, if that rounds once: from or to a float of 16 bits.
ElementFunction half_cast(Type from, Type to);
// Returns a function of one operand, whose elements follow each other.
ElementFunction element_function(const Facts& facts, Type from, Type to);
// Returns a function of two operands of types `from` and `other` that needs attributes, or whose
// operands differ in type.
ElementFunction pair_function(const Facts& facts, Type from, Type other, Type to);
// Selects elements of so many bytes by bools.
ElementLoop select_loop(int bytes);
// Limits elements to a low bound and a high bound, each a single element.
ElementLoop clip_loop(Type type);

// As for_integer, and for float32 and float64.
template <class F>
auto for_number(Type type, F with) -> decltype(with(std::int8_t{})) {
  if (type == Type::float32) return with(float{});
  if (type == Type::float64) return with(double{});
  return for_integer(type, with);
}

}  // namespace touchstone::optimized
