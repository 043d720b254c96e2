// Loops over rows of elements, written so that the compiler vectorizes them for each way in which
// operands are repeated.
#include "optimized/lowering/elements.h"

#include <cstdint>
#include <type_traits>
#include <utility>

#include "optimized/kernels/half_rounding.h"
#include "optimized/lowering/element_loops.h"
#include "reference/integers.h"

namespace touchstone::optimized {
namespace {

// Bool in memory: every byte other than 0 is true.
struct BoolByte {
  std::uint8_t byte;
  operator bool() const { return byte != 0; }  // NOLINT: computes like a bool
};

namespace pair {

// An operation on a pair; integers compute modulo 2^n.
#define TOUCHSTONE_PAIR(name, expression) \
  struct name {                           \
    template <class A>                    \
    static auto of(A a, A b) {            \
      return expression;                  \
    }                                     \
  };
TOUCHSTONE_PAIR(Equal, a == b)
TOUCHSTONE_PAIR(Less, a < b)
TOUCHSTONE_PAIR(LessOrEqual, a <= b)
TOUCHSTONE_PAIR(Greater, a > b)
TOUCHSTONE_PAIR(GreaterOrEqual, a >= b)
TOUCHSTONE_PAIR(And, (a & b) != 0)
TOUCHSTONE_PAIR(Or, (a | b) != 0)
TOUCHSTONE_PAIR(Xor, a != b)
TOUCHSTONE_PAIR(Min, b < a || b != b ? b : a)  // NaN is the result
TOUCHSTONE_PAIR(Max, a < b || b != b ? b : a)
#undef TOUCHSTONE_PAIR

#define TOUCHSTONE_ARITHMETIC(name, by)            \
  struct name {                                    \
    template <class A>                             \
    static A of(A a, A b) {                        \
      if constexpr (std::is_integral_v<A>) {       \
        return (Modular<A>(a) by Modular<A>(b)).v; \
      } else {                                     \
        return a by b;                             \
      }                                            \
    }                                              \
  };
TOUCHSTONE_ARITHMETIC(Add, +)
TOUCHSTONE_ARITHMETIC(Sub, -)
TOUCHSTONE_ARITHMETIC(Mul, *)
#undef TOUCHSTONE_ARITHMETIC

}  // namespace pair

template <class Op, class A, class To>
bool pairs(const ElementRow& row) {
  each_pair<A, To>(row, [](A a, A b) { return static_cast<To>(Op::of(a, b)); });
  return true;
}

template <class A>
bool quotients(const ElementRow& row) {
  if constexpr (std::is_integral_v<A>) {
    if (has_zero<A>(row)) return false;
    each_pair<A, A>(row, [](A a, A b) { return (Modular<A>(a) / Modular<A>(b)).v; });
  } else {
    each_pair<A, A>(row, [](A a, A b) { return a / b; });
  }
  return true;
}

template <class A>
bool negations(const ElementRow& row) {
  each<A, A>(row, [](A a) {
    if constexpr (std::is_integral_v<A>)
      return (-Modular<A>(a)).v;
    else
      return static_cast<A>(-a);
  });
  return true;
}

template <class A>
bool magnitudes(const ElementRow& row) {
  if constexpr (std::is_unsigned_v<A>) {
    each<A, A>(row, [](A a) { return a; });
  } else {
    using Bits = std::make_unsigned_t<A>;  // computes modulo 2^n, as the least number asks
    each<A, A>(row, [](A a) {
      const auto sign = static_cast<Bits>(a < 0 ? ~Bits{0} : Bits{0});
      return static_cast<A>(static_cast<Bits>((static_cast<Bits>(a) ^ sign) - sign));
    });
  }
  return true;
}

bool inversions(const ElementRow& row) {
  each<std::uint8_t, std::uint8_t>(
      row, [](std::uint8_t a) { return static_cast<std::uint8_t>(a == 0); });
  return true;
}

template <class A>
bool nans(const ElementRow& row) {
  each<A, std::uint8_t>(row, [](A a) { return static_cast<std::uint8_t>(a != a); });
  return true;
}

template <class A, class To>
bool conversions(const ElementRow& row) {
  each<A, To>(row, [](A a) { return static_cast<To>(a); });
  return true;
}

template <class To>
bool bool_conversions(const ElementRow& row) {
  each<std::uint8_t, To>(row, [](std::uint8_t a) { return static_cast<To>(a != 0 ? 1 : 0); });
  return true;
}

// True if all elements lie between the two numbers.
template <class A>
bool all_between(const ElementRow& row, A low, A high) {
  const A* const a = at<A>(row, 0);
  const Index step = row.steps[0], n = step == 0 ? 1 : row.count;
  // As wide as the elements, so that vectors of both have the same length.
  std::conditional_t<sizeof(A) == 4, std::uint32_t, std::uint64_t> outside = 0;
  if (step == 1) {
    for (Index k = 0; k < n; ++k) outside |= (a[k] > low) & (a[k] < high) ? 0U : 1U;
  } else {
    for (Index k = 0; k < n; ++k) outside |= (a[k * step] > low) & (a[k * step] < high) ? 0U : 1U;
  }
  return outside == 0;
}

// Truncates toward zero, modulo 2^n.
template <class A, class To>
bool cuts(const ElementRow& row) {
  if (sizeof(To) < 8 && all_between<A>(row, -0x1p31F, 0x1p31F)) {
    each<A, To>(row, [](A x) { return static_cast<To>(static_cast<std::int32_t>(x)); });
    return true;
  }
  if (!all_between<A>(row, -0x1p63F, 0x1p63F)) return false;
  each<A, To>(row, [](A x) { return static_cast<To>(static_cast<std::int64_t>(x)); });
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

template <class A>
bool nonzero(const ElementRow& row) {
  each<A, std::uint8_t>(row, [](A a) { return static_cast<std::uint8_t>(a != 0); });
  return true;
}

// Bits of `a` where `which` is true, else of `b`: no branch, which random conditions would miss.
template <class A>
A chosen(std::uint8_t which, A a, A b) {
  const A mask = static_cast<A>(A{0} - static_cast<A>(which != 0));
  return static_cast<A>((a & mask) | (b & ~mask));
}

template <class A>
bool selections(const ElementRow& row) {
  const auto* const which = at<std::uint8_t>(row, 0);
  const A *const a = at<A>(row, 1), *const b = at<A>(row, 2);
  A* const to = static_cast<A*>(row.to);
  const Index n = row.count;
  const auto [w, x, y] = row.steps;
  if (w == 0) {
    const A* const from = *which != 0 ? a : b;
    const Index step = *which != 0 ? x : y;
    for (Index k = 0; k < n; ++k) to[k] = from[k * step];
  } else if (w == 1 && x == 1 && y == 1) {
    for (Index k = 0; k < n; ++k) to[k] = chosen(which[k], a[k], b[k]);
  } else if (w == 1 && x == 1 && y == 0) {
    const A other = *b;
    for (Index k = 0; k < n; ++k) to[k] = chosen(which[k], a[k], other);
  } else if (w == 1 && x == 0 && y == 1) {
    const A other = *a;
    for (Index k = 0; k < n; ++k) to[k] = chosen(which[k], other, b[k]);
  } else {
    for (Index k = 0; k < n; ++k) to[k] = chosen(which[k * w], a[k * x], b[k * y]);
  }
  return true;
}

template <class Op>
ElementLoop comparison(Type from) {
  return for_number(
      from, [](auto zero) -> ElementLoop { return pairs<Op, decltype(zero), std::uint8_t>; });
}
template <class Op>
ElementLoop arithmetic(Type type) {
  return for_number(
      type, [](auto zero) -> ElementLoop { return pairs<Op, decltype(zero), decltype(zero)>; });
}
template <class Op>
ElementLoop of_bools(Type type) {
  return type == Type::boolean ? pairs<Op, BoolByte, std::uint8_t> : nullptr;
}

template <class A>
ElementLoop conversion_from(Type to) {
  if (to == Type::boolean) return nonzero<A>;
  if constexpr (std::is_floating_point_v<A>) {
    if (to == Type::float32) return conversions<A, float>;
    if (to == Type::float64) return conversions<A, double>;
    return for_integer(to, [](auto b) -> ElementLoop { return cuts<A, decltype(b)>; });
  } else {
    return for_number(to, [](auto b) -> ElementLoop { return conversions<A, decltype(b)>; });
  }
}

}  // namespace

ElementLoop binary_loop(std::string_view op, Type from, Type to) {
  if (to == Type::boolean) {
    if (op == "And") return of_bools<pair::And>(from);
    if (op == "Or") return of_bools<pair::Or>(from);
    if (op == "Xor") return of_bools<pair::Xor>(from);
    if (op == "Equal" && from == Type::boolean) return of_bools<pair::Equal>(from);
    if (op == "Equal") return comparison<pair::Equal>(from);
    if (op == "Less") return comparison<pair::Less>(from);
    if (op == "LessOrEqual") return comparison<pair::LessOrEqual>(from);
    if (op == "Greater") return comparison<pair::Greater>(from);
    if (op == "GreaterOrEqual") return comparison<pair::GreaterOrEqual>(from);
    return nullptr;
  }
  if (from != to) return nullptr;
  if (op == "Add") return arithmetic<pair::Add>(from);
  if (op == "Sub") return arithmetic<pair::Sub>(from);
  if (op == "Mul") return arithmetic<pair::Mul>(from);
  if (op == "Min") return arithmetic<pair::Min>(from);
  if (op == "Max") return arithmetic<pair::Max>(from);
  if (op == "Div" && from != Type::float32) {
    return for_number(from, [](auto zero) -> ElementLoop { return quotients<decltype(zero)>; });
  }
  return nullptr;
}

ElementLoop unary_loop(std::string_view op, Type from, Type to) {
  if (op == "Not" && from == Type::boolean && to == Type::boolean) return inversions;
  if (op == "Cast" || op == "CastLike") {
    if (const ElementLoop loop = half_conversion(from, to)) return loop;
    if (from == Type::boolean && to == Type::boolean) return nonzero<BoolByte>;
    if (from == Type::boolean)
      return for_number(to, [](auto b) -> ElementLoop { return bool_conversions<decltype(b)>; });
    return for_number(from, [&](auto a) { return conversion_from<decltype(a)>(to); });
  }
  if (op == "IsNaN" && from == Type::float32) return nans<float>;
  if (op == "IsNaN" && from == Type::float64) return nans<double>;
  if (from != to) return nullptr;
  if (op == "Neg" && from == Type::float64) return negations<double>;
  if (op == "Neg")
    return for_integer(from, [](auto a) -> ElementLoop { return negations<decltype(a)>; });
  if (op == "Abs")
    return for_integer(from, [](auto a) -> ElementLoop { return magnitudes<decltype(a)>; });
  return nullptr;
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

ElementLoop select_loop(int bytes) {
  switch (bytes) {
    case 1:
      return selections<std::uint8_t>;
    case 2:
      return selections<std::uint16_t>;
    case 4:
      return selections<std::uint32_t>;
    case 8:
      return selections<std::uint64_t>;
    default:
      return nullptr;
  }
}

}  // namespace touchstone::optimized
