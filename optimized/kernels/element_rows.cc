// Loops that the compiler vectorizes for each way in which operands are repeated. Compiled once per
// instruction set, with TOUCHSTONE_VECTOR_BYTES and TOUCHSTONE_ELEMENT_ROWS, without contraction of
// products and sums. Calls no inline function of other headers, as in ordered.cc.
#include "optimized/kernels/element_rows.h"

#include <type_traits>

#include "optimized/kernels/element_loops.h"
#include "optimized/kernels/for_integer.h"

namespace touchstone::optimized {

namespace {

using Count = std::int64_t;

// Bool in memory: every byte other than 0 is true.
struct BoolByte {
  std::uint8_t byte;
};

// Integers compute as unsigned numbers of 32 bits at least, whose overflow is defined.
template <class A>
using Wide = std::conditional_t<sizeof(A) < 4, std::uint32_t,
                                std::conditional_t<sizeof(A) == 4, std::uint32_t, std::uint64_t>>;

template <RowOp op, class A>
inline A arithmetic(A a, A b) {
  if constexpr (op == RowOp::min) {
    return b < a || b != b ? b : a;
  } else if constexpr (op == RowOp::max) {
    return a < b || b != b ? b : a;
  } else if constexpr (std::is_integral_v<A>) {
    const auto x = static_cast<Wide<A>>(a), y = static_cast<Wide<A>>(b);
    return static_cast<A>(op == RowOp::add ? x + y : op == RowOp::sub ? x - y : x * y);
  } else if constexpr (op == RowOp::div) {
    return a / b;
  } else {
    return op == RowOp::add ? a + b : op == RowOp::sub ? a - b : a * b;
  }
}
template <RowOp op, class A>
bool arithmetic_row(const ElementRow& row) {
  return each_pair<A, A>(row, [](A a, A b) { return arithmetic<op>(a, b); });
}

template <RowOp op, class A>
inline bool compared(A a, A b) {
  if constexpr (op == RowOp::equal) return a == b;
  if constexpr (op == RowOp::less) return a < b;
  if constexpr (op == RowOp::less_or_equal) return a <= b;
}
template <RowOp op, class A>
[[gnu::noinline]] bool comparison_row(const ElementRow& row) {
  return each_pair<A, std::uint8_t>(
      row, [](A a, A b) { return static_cast<std::uint8_t>(compared<op>(a, b)); });
}

// The comparison of b with a.
template <RowOp op, class A>
bool reversed_row(const ElementRow& row) {
  ElementRow other = row;
  other.from[0] = row.from[1], other.steps[0] = row.steps[1];
  other.from[1] = row.from[0], other.steps[1] = row.steps[0];
  return comparison_row<op, A>(other);
}

template <RowOp op>
bool bools_row(const ElementRow& row) {
  return each_pair<BoolByte, std::uint8_t>(row, [](BoolByte a, BoolByte b) {
    const bool x = a.byte != 0, y = b.byte != 0;
    const bool made = op == RowOp::both     ? x & y
                      : op == RowOp::either ? x | y
                      : op == RowOp::differ ? x != y
                                            : x == y;
    return static_cast<std::uint8_t>(made);
  });
}

// Remainders of float32 by float64, whose quotients are right below 2^28 and whose products of them
// are exact; others by the library.
template <bool floored>
inline float finished(float rest, float b) {
  if constexpr (floored) {
    if (rest == 0) return __builtin_copysignf(rest, b);
    return (rest < 0 && b > 0) || (rest > 0 && b < 0) ? rest + b : rest;
  }
  return rest;
}
template <bool floored>
bool remainder_row(const ElementRow& row) {
  constexpr Count most = 256;
  const float *const a = at<float>(row, 0), *const b = at<float>(row, 1);
  auto* const to = static_cast<float*>(row.to);
  const Count first = row.steps[0], second = row.steps[1];
  for (Count start = 0; start < row.count; start += most) {
    const Count left = row.count - start, n = left < most ? left : most;
    float x[most], y[most];
    for (Count k = 0; k < n; ++k) {
      x[k] = a[(start + k) * first];
      y[k] = b[(start + k) * second];
    }
    std::int32_t others = 0;
    for (Count k = 0; k < n; ++k) {
      const double ratio = static_cast<double>(x[k]) / static_cast<double>(y[k]);
      const bool exact = (__builtin_fabs(ratio) < 0x1p28) & (__builtin_fabsf(y[k]) < 0x1p127F);
      others |= exact ? 0 : 1;
    }
    if (others != 0) {
      for (Count k = 0; k < n; ++k)
        to[start + k] = finished<floored>(__builtin_fmodf(x[k], y[k]), y[k]);
      continue;
    }
    for (Count k = 0; k < n; ++k) {
      const double p = x[k], q = y[k];
      const auto rest = static_cast<float>(p - __builtin_trunc(p / q) * q);
      to[start + k] = finished<floored>(__builtin_copysignf(rest, x[k]), y[k]);
    }
  }
  return true;
}

template <class A>
bool negation_row(const ElementRow& row) {
  return each<A, A>(row, [](A a) {
    if constexpr (std::is_integral_v<A>)
      return static_cast<A>(Wide<A>{0} - static_cast<Wide<A>>(a));
    else
      return static_cast<A>(-a);
  });
}

// Magnitude of an integer, modulo 2^n: of the least number, itself.
template <class A>
bool magnitude_row(const ElementRow& row) {
  return each<A, A>(row, [](A a) {
    const auto wide = static_cast<Wide<A>>(a);
    return static_cast<A>(a < 0 ? Wide<A>{0} - wide : wide);
  });
}

template <class A>
bool copy_row(const ElementRow& row) {
  return each<A, A>(row, [](A a) { return a; });
}

bool inversion_row(const ElementRow& row) {
  return each<std::uint8_t, std::uint8_t>(
      row, [](std::uint8_t a) { return static_cast<std::uint8_t>(a == 0); });
}

template <class A>
bool nan_row(const ElementRow& row) {
  return each<A, std::uint8_t>(row, [](A a) { return static_cast<std::uint8_t>(a != a); });
}

template <class A, class To>
bool conversion_row(const ElementRow& row) {
  return each<A, To>(row, [](A a) { return static_cast<To>(a); });
}
template <class To>
bool bool_conversion_row(const ElementRow& row) {
  return each<std::uint8_t, To>(row,
                                [](std::uint8_t a) { return static_cast<To>(a != 0 ? 1 : 0); });
}
template <class A>
bool nonzero_row(const ElementRow& row) {
  return each<A, std::uint8_t>(row, [](A a) { return static_cast<std::uint8_t>(a != 0); });
}

// True if all elements lie between the two numbers.
template <class A>
inline bool all_between(const ElementRow& row, A low, A high) {
  const A* const a = at<A>(row, 0);
  const Count step = row.steps[0], n = step == 0 ? 1 : row.count;
  // As wide as the elements, so that vectors of both have the same length.
  std::conditional_t<sizeof(A) == 4, std::uint32_t, std::uint64_t> outside = 0;
  if (step == 1) {
    for (Count k = 0; k < n; ++k) outside |= (a[k] > low) & (a[k] < high) ? 0U : 1U;
  } else {
    for (Count k = 0; k < n; ++k) {
      stay_scalar();
      outside |= (a[k * step] > low) & (a[k * step] < high) ? 0U : 1U;
    }
  }
  return outside == 0;
}

// Truncates toward zero, modulo 2^n.
template <class A, class To>
bool truncation_row(const ElementRow& row) {
  if (sizeof(To) < 8 && all_between<A>(row, -0x1p31F, 0x1p31F))
    return each<A, To>(row, [](A x) { return static_cast<To>(static_cast<std::int32_t>(x)); });
  if (!all_between<A>(row, -0x1p63F, 0x1p63F)) return false;
  return each<A, To>(row, [](A x) { return static_cast<To>(static_cast<std::int64_t>(x)); });
}

// Bits of `a` where `which` is true, else of `b`: no branch, which random conditions would miss.
template <class A>
inline A chosen(std::uint8_t which, A a, A b) {
  const A mask = static_cast<A>(A{0} - static_cast<A>(which != 0));
  return static_cast<A>((a & mask) | (b & ~mask));
}

template <class A>
bool selection_row(const ElementRow& row) {
  const auto* const which = at<std::uint8_t>(row, 0);
  const A *const a = at<A>(row, 1), *const b = at<A>(row, 2);
  A* const to = static_cast<A*>(row.to);
  const Count n = row.count, w = row.steps[0], x = row.steps[1], y = row.steps[2];
  if (w == 0) {
    const A* const from = *which != 0 ? a : b;
    const Count step = *which != 0 ? x : y;
    if (step == 1) {
      for (Count k = 0; k < n; ++k) to[k] = from[k];
    } else {
      for (Count k = 0; k < n; ++k) {
        stay_scalar();
        to[k] = from[k * step];
      }
    }
  } else if (w == 1 && x == 1 && y == 1) {
    for (Count k = 0; k < n; ++k) to[k] = chosen(which[k], a[k], b[k]);
  } else if (w == 1 && x == 1 && y == 0) {
    const A other = *b;
    for (Count k = 0; k < n; ++k) to[k] = chosen(which[k], a[k], other);
  } else if (w == 1 && x == 0 && y == 1) {
    const A other = *a;
    for (Count k = 0; k < n; ++k) to[k] = chosen(which[k], other, b[k]);
  } else {
    for (Count k = 0; k < n; ++k) {
      stay_scalar();
      to[k] = chosen(which[k * w], a[k * x], b[k * y]);
    }
  }
  return true;
}

// As for_integer, with a zero of the unsigned type of as many bits: for what has the same bits in
// both.
template <class F>
inline ElementLoop for_bits(Type type, F with) {
  return for_integer(type, [&](auto zero) { return with(std::make_unsigned_t<decltype(zero)>{}); });
}
template <class F>
inline ElementLoop or_float(Type type, F with, ElementLoop of_integers) {
  if (type == Type::float32) return with(float{});
  if (type == Type::float64) return with(double{});
  return of_integers;
}
template <class F>
inline ElementLoop for_number(Type type, F with) {
  return or_float(type, with, for_integer(type, with));
}
template <class F>
inline ElementLoop for_number_bits(Type type, F with) {
  return or_float(type, with, for_bits(type, with));
}

// Loops of an operator, by a zero of their type.
template <RowOp op>
constexpr auto arithmetic_of =
    [](auto zero) -> ElementLoop { return arithmetic_row<op, decltype(zero)>; };
template <RowOp op>
constexpr auto comparison_of =
    [](auto zero) -> ElementLoop { return comparison_row<op, decltype(zero)>; };
template <RowOp op>
constexpr auto reversed_of =
    [](auto zero) -> ElementLoop { return reversed_row<op, decltype(zero)>; };

ElementLoop loop_of(RowOp op, Type from) {
  const bool is_bool = from == Type::boolean, is_float = from == Type::float32;
  switch (op) {
    case RowOp::add:
      return for_number_bits(from, arithmetic_of<RowOp::add>);
    case RowOp::sub:
      return for_number_bits(from, arithmetic_of<RowOp::sub>);
    case RowOp::mul:
      return for_number_bits(from, arithmetic_of<RowOp::mul>);
    case RowOp::div:
      return or_float(from, arithmetic_of<RowOp::div>, nullptr);
    case RowOp::min:
      return for_number(from, arithmetic_of<RowOp::min>);
    case RowOp::max:
      return for_number(from, arithmetic_of<RowOp::max>);
    case RowOp::fmod:
      return is_float ? remainder_row<false> : nullptr;
    case RowOp::floor_mod:
      return is_float ? remainder_row<true> : nullptr;
    case RowOp::equal:
      return is_bool ? bools_row<RowOp::equal> : for_number_bits(from, comparison_of<RowOp::equal>);
    case RowOp::less:
      return for_number(from, comparison_of<RowOp::less>);
    case RowOp::less_or_equal:
      return for_number(from, comparison_of<RowOp::less_or_equal>);
    case RowOp::greater:
      return for_number(from, reversed_of<RowOp::less>);
    case RowOp::greater_or_equal:
      return for_number(from, reversed_of<RowOp::less_or_equal>);
    case RowOp::both:
      return is_bool ? bools_row<RowOp::both> : nullptr;
    case RowOp::either:
      return is_bool ? bools_row<RowOp::either> : nullptr;
    case RowOp::differ:
      return is_bool ? bools_row<RowOp::differ> : nullptr;
    case RowOp::negate:
      if (from == Type::float64) return negation_row<double>;
      return for_bits(from, [](auto zero) -> ElementLoop { return negation_row<decltype(zero)>; });
    case RowOp::magnitude:
      return for_integer(from, [](auto zero) -> ElementLoop {
        using A = decltype(zero);
        if constexpr (std::is_signed_v<A>)
          return magnitude_row<A>;
        else
          return copy_row<A>;
      });
    case RowOp::invert:
      return is_bool ? inversion_row : nullptr;
    case RowOp::is_nan:
      return is_float ? nan_row<float> : from == Type::float64 ? nan_row<double> : nullptr;
    case RowOp::none:
      break;
  }
  return nullptr;
}

template <class A>
inline ElementLoop cast_from(Type to) {
  if constexpr (std::is_floating_point_v<A>) {
    if (to == Type::boolean) return nonzero_row<A>;
    if (to == Type::float32) return conversion_row<A, float>;
    if (to == Type::float64) return conversion_row<A, double>;
    return for_bits(to, [](auto zero) -> ElementLoop { return truncation_row<A, decltype(zero)>; });
  } else {
    if (to == Type::boolean) return nonzero_row<std::make_unsigned_t<A>>;
    const auto with = [](auto zero) -> ElementLoop {
      using To = decltype(zero);
      if constexpr (std::is_integral_v<To> && sizeof(To) <= sizeof(A))
        return conversion_row<std::make_unsigned_t<A>, To>;
      else
        return conversion_row<A, To>;
    };
    return for_number_bits(to, with);
  }
}

ElementLoop cast_of(Type from, Type to) {
  if (from == Type::boolean) {
    if (to == Type::boolean) return nonzero_row<std::uint8_t>;
    const auto with = [](auto zero) -> ElementLoop { return bool_conversion_row<decltype(zero)>; };
    return for_number_bits(to, with);
  }
  const auto with = [&](auto zero) { return cast_from<decltype(zero)>(to); };
  return for_number(from, with);
}

ElementLoop select_of(int bytes) {
  switch (bytes) {
    case 1:
      return selection_row<std::uint8_t>;
    case 2:
      return selection_row<std::uint16_t>;
    case 4:
      return selection_row<std::uint32_t>;
    case 8:
      return selection_row<std::uint64_t>;
    default:
      return nullptr;
  }
}

}  // namespace

extern const ElementRows TOUCHSTONE_ELEMENT_ROWS{loop_of, cast_of, select_of};

}  // namespace touchstone::optimized
