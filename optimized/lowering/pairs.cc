// Functions of two elements: remainders, shifts, bitwise operators, powers, clamps.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "optimized/kernels/element_loops.h"
#include "optimized/lowering/elements.h"
#include "reference/integers.h"

namespace touchstone::optimized {
namespace {

// Calls f for all pairs, in one loop: for dear functions.
template <class A, class F>
void mixed(const ElementRow& row, F f) {
  const A* const a = at<A>(row, 0);
  const A* const b = at<A>(row, 1);
  A* const to = static_cast<A*>(row.to);
  for (Index k = 0; k < row.count; ++k) to[k] = f(a[k * row.steps[0]], b[k * row.steps[1]]);
}

template <class A, bool of_dividend>
bool remainders(const ElementRow& row) {
  if (has_zero<A>(row)) return false;
  mixed<A>(row, [](A a, A b) {
    const Modular<A> x(a), y(b);
    return (of_dividend ? prim::fmod(x, y) : prim::mod_floor(x, y)).v;
  });
  return true;
}
template <class A>
bool real_remainders(const ElementRow& row) {
  mixed<A>(row, [](A a, A b) { return std::fmod(a, b); });
  return true;
}
// The sign is the divisor's, also that of a zero.
template <class A>
bool floored_remainders(const ElementRow& row) {
  mixed<A>(row, [](A a, A b) {
    const A rest = std::fmod(a, b);
    if (rest == 0) return b < 0 ? -std::fabs(rest) : std::fabs(rest);
    return (rest < 0 && b > 0) || (rest > 0 && b < 0) ? rest + b : rest;
  });
  return true;
}

template <class A, char op>
bool bitwise(const ElementRow& row) {
  each_pair<A, A>(row, [](A a, A b) {
    return static_cast<A>(op == '&' ? a & b : op == '|' ? a | b : a ^ b);
  });
  return true;
}

// A count that is negative or at least the width clears every bit, or leaves the sign.
template <class A, bool left>
bool shifts(const ElementRow& row) {
  using U = std::make_unsigned_t<A>;
  constexpr U width = 8 * sizeof(A);
  mixed<A>(row, [](A a, A by) {
    const auto n = static_cast<U>(by);
    if constexpr (left) {
      return n < width ? static_cast<A>(static_cast<U>(a) << n) : A{0};
    } else {
      return n < width ? static_cast<A>(a >> n) : static_cast<A>(a < 0 ? -1 : 0);
    }
  });
  return true;
}

template <class A>
bool leaks(const ElementRow& row) {
  each_pair<A, A>(row, [](A x, A slope) {
    if constexpr (std::is_integral_v<A>) {
      return x < 0 ? (Modular<A>(slope) * Modular<A>(x)).v : x;
    } else {
      return x < 0 ? slope * x : x;
    }
  });
  return true;
}

bool gated(const ElementRow& row) {
  const double alpha = row.numbers[0];
  mixed<double>(row, [=](double a, double b) { return a * prim::sigmoid(alpha * a) * b; });
  return true;
}

// Reads a block of exponents as numbers of their class.
template <class B>
void read_numbers(Type type, const void* from, Index first, Index step, Index count, B* to) {
  const auto as = [&]<class T>(T) {
    const T* const x = static_cast<const T*>(from) + first * step;
    for (Index k = 0; k < count; ++k) to[k] = static_cast<B>(x[k * step]);
    return true;
  };
  for_number(type, as);
}

// Powers of A by exponents of the class B: int64, uint64 or float64.
template <class A, class B>
bool powers(const ElementRow& row) {
  constexpr Index most = 256;
  B block[most];
  const auto type = static_cast<Type>(static_cast<int>(row.numbers[0]));
  const A* const x = at<A>(row, 0);
  A* const to = static_cast<A*>(row.to);
  bool fine = true;
  for (Index k = 0; k < row.count; ++k) {
    if (k % most == 0)
      read_numbers(type, row.from[1], k, row.steps[1], std::min(most, row.count - k), block);
    const A base = x[k * row.steps[0]];
    const B power = block[k % most];
    if constexpr (std::is_floating_point_v<A> && std::is_floating_point_v<B>) {
      to[k] = prim::pow(base, power);
    } else if constexpr (std::is_floating_point_v<A>) {
      to[k] = prim::pow(base, Modular<B>(power));
    } else if constexpr (std::is_floating_point_v<B>) {
      const double made = std::pow(static_cast<double>(base), power);
      const bool inside = std::fabs(made) < 0x1p63;
      fine = fine && inside;
      to[k] = inside ? static_cast<A>(static_cast<std::int64_t>(made)) : A{0};
    } else if (base == 0 && std::is_signed_v<B> && power < B{0}) {
      fine = false;
    } else {
      to[k] = static_cast<A>(prim::whole_power(Modular<std::int64_t>(base), Modular<B>(power)).v);
    }
  }
  return fine;
}

template <class A>
ElementLoop powers_of(Type power) {
  if (power == Type::uint64) return powers<A, std::uint64_t>;
  if (power == Type::float32 || power == Type::float64) return powers<A, double>;
  return for_integer(power, [](auto) -> ElementLoop { return powers<A, std::int64_t>; });
}
ElementLoop power_loop(Type base, Type power) {
  if (base == Type::float64) return powers_of<double>(power);
  if (base == Type::int32) return powers_of<std::int32_t>(power);
  if (base == Type::int64) return powers_of<std::int64_t>(power);
  return base == Type::float32 && power != base ? powers_of<float>(power) : nullptr;
}

template <char op>
ElementLoop bitwise_loop(Type type) {
  return for_integer(type, [](auto zero) -> ElementLoop {
    return bitwise<std::make_unsigned_t<decltype(zero)>, op>;
  });
}

template <class A>
bool clamps(const ElementRow& row) {
  const A* const x = at<A>(row, 0);
  const A low = *at<A>(row, 1), high = *at<A>(row, 2);
  A* const to = static_cast<A*>(row.to);
  for (Index k = 0; k < row.count; ++k) {
    const A raised = x[k] < low ? low : x[k];
    to[k] = high < raised ? high : raised;
  }
  return true;
}

ElementLoop pair_loop(const Facts& facts, Type type) {
  const std::string_view op = facts.signature().op;
  if (op == "Mod") {
    const bool fmod = facts.integer("fmod") != 0;
    if (type == Type::float32)
      return element_rows().loop(fmod ? RowOp::fmod : RowOp::floor_mod, type);
    if (type == Type::float64) return fmod ? real_remainders<double> : floored_remainders<double>;
    return for_integer(type, [&](auto zero) -> ElementLoop {
      return fmod ? remainders<decltype(zero), true> : remainders<decltype(zero), false>;
    });
  }
  if (op == "BitwiseAnd") return bitwise_loop<'&'>(type);
  if (op == "BitwiseOr") return bitwise_loop<'|'>(type);
  if (op == "BitwiseXor") return bitwise_loop<'^'>(type);
  if (op == "BitShift") {
    const bool left = facts.text("direction") == "LEFT";
    return for_integer(type, [&](auto zero) -> ElementLoop {
      return left ? shifts<decltype(zero), true> : shifts<decltype(zero), false>;
    });
  }
  if (op == "PRelu") {
    if (type == Type::float64) return leaks<double>;
    if (type == Type::int32) return leaks<std::int32_t>;
    if (type == Type::int64) return leaks<std::int64_t>;
    if (type == Type::uint32) return leaks<std::uint32_t>;
    if (type == Type::uint64) return leaks<std::uint64_t>;
  }
  return nullptr;
}

}  // namespace

ElementFunction pair_function(const Facts& facts, Type from, Type other, Type to) {
  constexpr double dear = 8;
  if (from != to) return {};
  if (facts.signature().op == "Pow")
    return {power_loop(from, other), {static_cast<double>(other)}, 2 * dear};
  if (from != other) return {};
  if (facts.signature().op == "SwiGLU" && from == Type::float64)
    return {gated, {facts.number("alpha", 1)}, dear};
  return {pair_loop(facts, from)};
}

ElementLoop clip_loop(Type type) {
  return for_number(type, [](auto zero) -> ElementLoop { return clamps<decltype(zero)>; });
}

}  // namespace touchstone::optimized
