// Finds the loop of an operator and a type: compiled for each instruction set, or by conversions
// between float32 and floats of 16 bits.
#include "optimized/lowering/elements.h"

#include <span>
#include <type_traits>
#include <utility>

#include "optimized/kernels/element_loops.h"
#include "optimized/kernels/half_rounding.h"
#include "optimized/registry/isa.h"
#include "reference/integers.h"

namespace touchstone::optimized {
namespace {

struct NamedOp {
  std::string_view name;
  RowOp op;
};
constexpr NamedOp of_two[] = {{"Add", RowOp::add}, {"Sub", RowOp::sub}, {"Mul", RowOp::mul},
                              {"Div", RowOp::div}, {"Min", RowOp::min}, {"Max", RowOp::max}};
constexpr NamedOp comparisons[] = {{"Equal", RowOp::equal},
                                   {"Less", RowOp::less},
                                   {"LessOrEqual", RowOp::less_or_equal},
                                   {"Greater", RowOp::greater},
                                   {"GreaterOrEqual", RowOp::greater_or_equal},
                                   {"And", RowOp::both},
                                   {"Or", RowOp::either},
                                   {"Xor", RowOp::differ}};
constexpr NamedOp of_one[] = {
    {"Neg", RowOp::negate}, {"Abs", RowOp::magnitude}, {"Not", RowOp::invert}};

RowOp op_of(std::span<const NamedOp> names, std::string_view name) {
  for (const NamedOp& one : names) {
    if (one.name == name) return one.op;
  }
  return RowOp::none;
}

template <class A>
bool quotients(const ElementRow& row) {
  if (has_zero<A>(row)) return false;
  each_pair<A, A>(row, [](A a, A b) { return (Modular<A>(a) / Modular<A>(b)).v; });
  return true;
}

// Conversions between float32 and a float of 16 bits.
template <Type half>
bool to_half(const ElementRow& row) {
  auto* const to = static_cast<std::uint16_t*>(row.to);
  const HalfKernels& kernels = half_kernels(half);
  if (row.steps[0] == 1) {
    kernels.from_float(at<float>(row, 0), to, row.count);
  } else {
    for (Index k = 0; k < row.count; ++k)
      kernels.from_float(at<float>(row, 0) + k * row.steps[0], to + k, 1);
  }
  return true;
}
template <Type half>
bool from_half(const ElementRow& row) {
  float* const to = static_cast<float*>(row.to);
  const HalfKernels& kernels = half_kernels(half);
  if (row.steps[0] == 1) {
    kernels.to_float(at<std::uint16_t>(row, 0), to, row.count);
  } else {
    for (Index k = 0; k < row.count; ++k)
      kernels.to_float(at<std::uint16_t>(row, 0) + k * row.steps[0], to + k, 1);
  }
  return true;
}
ElementLoop half_conversion(Type from, Type to) {
  if (from == Type::float32 && to == Type::float16) return to_half<Type::float16>;
  if (from == Type::float32 && to == Type::bfloat16) return to_half<Type::bfloat16>;
  if (from == Type::float16 && to == Type::float32) return from_half<Type::float16>;
  if (from == Type::bfloat16 && to == Type::float32) return from_half<Type::bfloat16>;
  return nullptr;
}

}  // namespace

const ElementRows& element_rows() { return BY_ISA(chosen_isa(), element_rows); }

ElementLoop binary_loop(std::string_view op, Type from, Type to) {
  if (to == Type::boolean) return element_rows().loop(op_of(comparisons, op), from);
  if (from != to) return nullptr;
  if (op == "Div" && facts(from).is_integer)
    return for_integer(from, [](auto zero) -> ElementLoop { return quotients<decltype(zero)>; });
  return element_rows().loop(op_of(of_two, op), from);
}

ElementLoop unary_loop(std::string_view op, Type from, Type to) {
  if (op == "Cast" || op == "CastLike") {
    if (const ElementLoop loop = half_conversion(from, to)) return loop;
    return element_rows().cast(from, to);
  }
  if (op == "IsNaN") return element_rows().loop(RowOp::is_nan, from);
  return from == to ? element_rows().loop(op_of(of_one, op), from) : nullptr;
}

ElementFunction half_cast(Type from, Type to) {
  const auto is_half = [](Type type) { return type == Type::float16 || type == Type::bfloat16; };
  const bool narrow = from != Type::string && facts(from).bits <= 16;
  const bool exact = is_half(from) || from == Type::boolean ||
                     (facts(from).is_integer && (to == Type::float16 || narrow));
  if (!exact || (!is_half(from) && !is_half(to))) return {};
  const ElementLoop first = unary_loop("Cast", from, Type::float32);
  const ElementLoop second = unary_loop("Cast", Type::float32, to);
  if (first == nullptr || second == nullptr) return {};
  return {first, {}, 2 * nanoseconds_an_element, second};
}

ElementLoop select_loop(int bytes) { return element_rows().select(bytes); }

}  // namespace touchstone::optimized
