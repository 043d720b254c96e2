// Functions of one element of float64 or an integer type, by the reference's primitives, in flat
// loops; trigonometric ones of float32, and float64 ones of an exponential, by vectors.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "optimized/kernels/double_functions.h"
#include "optimized/kernels/trigonometry.h"
#include "optimized/lowering/elements.h"
#include "optimized/problems/float_attribute.h"
#include "optimized/registry/isa.h"
#include "reference/integers.h"

namespace touchstone::optimized {

const DoubleFunctionKernels& double_functions_of(Isa isa) { return BY_ISA(isa, double_functions); }

namespace {

using Numbers = const double*;  // values of attributes

template <class A, class To, class F>
void each(const ElementRow& row, F f) {
  const A* const a = static_cast<const A*>(row.from[0]);
  To* const to = static_cast<To*>(row.to);
  const Index n = row.count;  // which a store of bytes might change
  for (Index k = 0; k < n; ++k) to[k] = f(a[k]);
}

// Functions of a float64 x; p[0] and p[1] are attributes.
#define TOUCHSTONE_FUNCTION(name, expression)                                     \
  struct name {                                                                   \
    static double of(double x, [[maybe_unused]] Numbers p) { return expression; } \
  };
TOUCHSTONE_FUNCTION(Abs, prim::abs(x))
TOUCHSTONE_FUNCTION(Acos, prim::acos(x))
TOUCHSTONE_FUNCTION(Acosh, prim::acosh(x))
TOUCHSTONE_FUNCTION(Asin, prim::asin(x))
TOUCHSTONE_FUNCTION(Asinh, prim::asinh(x))
TOUCHSTONE_FUNCTION(Atan, prim::atan(x))
TOUCHSTONE_FUNCTION(Atanh, prim::atanh(x))
TOUCHSTONE_FUNCTION(Ceil, prim::ceil(x))
TOUCHSTONE_FUNCTION(Clip, (x < p[0] ? p[0] : x) > p[1] ? p[1] : (x < p[0] ? p[0] : x))
TOUCHSTONE_FUNCTION(Cos, prim::cos(x))
TOUCHSTONE_FUNCTION(Cosh, prim::cosh(x))
TOUCHSTONE_FUNCTION(Erf, prim::erf(x))
TOUCHSTONE_FUNCTION(Floor, prim::floor(x))
TOUCHSTONE_FUNCTION(Gelu, 0.5 * x * (1 + prim::erf(x / prim::sqrt(2.0))))
TOUCHSTONE_FUNCTION(HardSigmoid, prim::maximum(prim::minimum(p[0] * x + p[1], 1.0), 0.0))
TOUCHSTONE_FUNCTION(HardSwish,
                    x* prim::maximum(prim::minimum(0.1666666716337204 * x + 0.5, 1.0), 0.0))
TOUCHSTONE_FUNCTION(LeakyRelu, x < 0 ? p[0] * x : x)
TOUCHSTONE_FUNCTION(Log, prim::log(x))
TOUCHSTONE_FUNCTION(Mish, x* prim::tanh(prim::softplus(x)))
TOUCHSTONE_FUNCTION(Reciprocal, 1 / x)
TOUCHSTONE_FUNCTION(Relu, prim::maximum(x, 0.0))
TOUCHSTONE_FUNCTION(Round, prim::round_even(x))
TOUCHSTONE_FUNCTION(Shrink, x<-p[1] ? x + p[0] : x> p[1] ? x - p[0] : 0)
TOUCHSTONE_FUNCTION(Sign, x > 0 ? 1 : x < 0 ? -1 : x)
TOUCHSTONE_FUNCTION(Sin, prim::sin(x))
TOUCHSTONE_FUNCTION(Sinh, prim::sinh(x))
TOUCHSTONE_FUNCTION(Softplus, prim::softplus(x))
TOUCHSTONE_FUNCTION(Softsign, x / (1 + prim::abs(x)))
TOUCHSTONE_FUNCTION(Tan, prim::tan(x))
TOUCHSTONE_FUNCTION(ThresholdedRelu, x > p[0] ? x : 0)
#undef TOUCHSTONE_FUNCTION

template <class Op>
bool doubles(const ElementRow& row) {
  each<double, double>(row, [p = row.numbers](double x) { return Op::of(x, p); });
  return true;
}

using Member = DoubleFunction DoubleFunctionKernels::*;

template <Member function>
bool vectors(const ElementRow& row) {
  (double_functions_of(chosen_isa()).*function)(static_cast<const double*>(row.from[0]),
                                                static_cast<double*>(row.to), row.count);
  return true;
}

// Functions of a float64 x and the value f of `function` at an argument that depends on x.
#define TOUCHSTONE_COMPOSED(name, called, at, expression)                                   \
  struct name {                                                                             \
    static constexpr Member function = &DoubleFunctionKernels::called;                      \
    static double argument(double x, [[maybe_unused]] Numbers p) { return at; }             \
    static double of(double x, double f, [[maybe_unused]] Numbers p) { return expression; } \
  };
TOUCHSTONE_COMPOSED(Celu, exp, x / p[0], prim::maximum(x, 0.0) + prim::minimum(p[0] * (f - 1), 0.0))
TOUCHSTONE_COMPOSED(Elu, exp, x, x < 0 ? p[0] * (f - 1) : x)
TOUCHSTONE_COMPOSED(Selu, exp, x, x > 0 ? p[1] * x : p[1] * (p[0] * f - p[0]))
TOUCHSTONE_COMPOSED(Swish, sigmoid, p[0] * x, x* f)
TOUCHSTONE_COMPOSED(GeluByTanh, tanh,
                    prim::sqrt(2.0 / 3.141592653589793) * (x + 0.044715 * (x * x * x)),
                    0.5 * x * (1 + f))
#undef TOUCHSTONE_COMPOSED

template <class Op>
bool composed(const ElementRow& row) {
  constexpr Index block = 256;
  const auto* const x = static_cast<const double*>(row.from[0]);
  auto* const to = static_cast<double*>(row.to);
  const DoubleFunctionKernels& kernels = double_functions_of(chosen_isa());
  double held[block];
  for (Index first = 0; first < row.count; first += block) {
    const Index some = std::min(block, row.count - first);
    for (Index k = 0; k < some; ++k) held[k] = Op::argument(x[first + k], row.numbers);
    (kernels.*Op::function)(held, held, some);
    for (Index k = 0; k < some; ++k) to[first + k] = Op::of(x[first + k], held[k], row.numbers);
  }
  return true;
}

template <class A>
bool is_infinite(const ElementRow& row) {
  constexpr A infinity = std::numeric_limits<A>::infinity();
  // The numbers that count as infinite; NaN equals none.
  constexpr A none = std::numeric_limits<A>::quiet_NaN();
  const A low = row.numbers[0] != 0 ? -infinity : none,
          high = row.numbers[1] != 0 ? infinity : none;
  each<A, std::uint8_t>(row,
                        [=](A x) { return static_cast<std::uint8_t>((x == low) | (x == high)); });
  return true;
}

template <class A>
bool signs(const ElementRow& row) {
  each<A, A>(row, [](A x) { return static_cast<A>((x > 0) - (x < 0)); });
  return true;
}
template <class A>
bool positive_parts(const ElementRow& row) {
  each<A, A>(row, [](A x) { return x < 0 ? A{0} : x; });
  return true;
}
template <class A>
bool complements(const ElementRow& row) {
  each<A, A>(row, [](A x) { return static_cast<A>(~x); });
  return true;
}
// Erf of an integer, truncated: from 4 on it rounds to 1 in float32.
template <class A>
bool truncated_erf(const ElementRow& row) {
  each<A, A>(row, [](A x) {
    if constexpr (std::is_signed_v<A>) {
      return static_cast<A>((x >= 4) - (x <= -4));
    } else {
      return static_cast<A>(x >= 4);
    }
  });
  return true;
}
// Computed in float32 and truncated modulo 2^n; returns false for a result beyond 64 bits.
template <class A>
bool shrunk(const ElementRow& row) {
  const auto bias = static_cast<float>(row.numbers[0]), lambd = static_cast<float>(row.numbers[1]);
  bool fits = true;
  each<A, A>(row, [&](A element) {
    const auto x = static_cast<float>(element);
    const float made = x < -lambd ? x + bias : x > lambd ? x - bias : 0;
    const bool inside = std::fabs(made) < 0x1p63F;
    fits = fits && inside;
    return inside ? static_cast<A>(static_cast<std::int64_t>(made)) : A{0};
  });
  return fits;
}

constexpr double cheap = nanoseconds_an_element, by_vectors = 3, dear = 8;

struct Function {
  std::string_view op;
  double nanoseconds;
  ElementLoop loop;
  std::string_view first{}, second{};  // attributes
};
constexpr Function functions[] = {
    {"Abs", cheap, doubles<Abs>},
    {"Acos", dear, doubles<Acos>},
    {"Acosh", dear, doubles<Acosh>},
    {"Asin", dear, doubles<Asin>},
    {"Asinh", dear, doubles<Asinh>},
    {"Atan", dear, doubles<Atan>},
    {"Atanh", dear, doubles<Atanh>},
    {"Ceil", 1, doubles<Ceil>},
    {"Celu", by_vectors, composed<Celu>, "alpha"},
    {"Clip", cheap, doubles<Clip>, "min", "max"},
    {"Cos", dear, doubles<Cos>},
    {"Cosh", dear, doubles<Cosh>},
    {"Elu", by_vectors, composed<Elu>, "alpha"},
    {"Erf", dear, doubles<Erf>},
    {"Exp", by_vectors, vectors<&DoubleFunctionKernels::exp>},
    {"Floor", 1, doubles<Floor>},
    {"HardSigmoid", cheap, doubles<HardSigmoid>, "alpha", "beta"},
    {"HardSwish", cheap, doubles<HardSwish>},
    {"LeakyRelu", cheap, doubles<LeakyRelu>, "alpha"},
    {"Log", dear, doubles<Log>},
    {"Mish", 3 * dear, doubles<Mish>},
    {"Reciprocal", 1, doubles<Reciprocal>},
    {"Relu", cheap, doubles<Relu>},
    {"Round", 2, doubles<Round>},
    {"Selu", by_vectors, composed<Selu>, "alpha", "gamma"},
    {"Shrink", cheap, doubles<Shrink>, "bias", "lambd"},
    {"Sigmoid", by_vectors, vectors<&DoubleFunctionKernels::sigmoid>},
    {"Sign", cheap, doubles<Sign>},
    {"Sin", dear, doubles<Sin>},
    {"Sinh", dear, doubles<Sinh>},
    {"Softplus", 2 * dear, doubles<Softplus>},
    {"Softsign", 1, doubles<Softsign>},
    {"Sqrt", 1, vectors<&DoubleFunctionKernels::sqrt>},
    {"Swish", by_vectors, composed<Swish>, "alpha"},
    {"Tan", dear, doubles<Tan>},
    {"Tanh", by_vectors, vectors<&DoubleFunctionKernels::tanh>},
    {"ThresholdedRelu", cheap, doubles<ThresholdedRelu>, "alpha"},
};

double number(const Facts& facts, std::string_view attribute, double otherwise) {
  return attribute.empty() ? 0 : float_attribute(facts, attribute, otherwise);
}

ElementFunction of_doubles(const Facts& facts) {
  const std::string_view op = facts.signature().op;
  if (op == "Gelu") {
    const bool by_tanh = facts.text("approximate", "none") == "tanh";
    return {by_tanh ? composed<GeluByTanh> : doubles<Gelu>, {}, 2 * dear};
  }
  constexpr int clamps_by_operands = 11;
  // Bounds of a clamp that neither the node nor its version gives. As operands they are the numbers
  // at the ends of the type.
  const double end = op == "Clip" && facts.signature().since >= clamps_by_operands
                         ? std::numeric_limits<double>::max()
                         : std::numeric_limits<double>::infinity();
  for (const Function& one : functions) {
    if (one.op != op) continue;
    return {one.loop,
            {number(facts, one.first, -end), number(facts, one.second, end)},
            one.nanoseconds};
  }
  return {};
}

const TrigonometryKernels& trigonometry() { return BY_ISA(chosen_isa(), trigonometry); }

template <FloatFunction TrigonometryKernels::*function>
bool singles(const ElementRow& row) {
  const auto* const from = static_cast<const float*>(row.from[0]);
  (trigonometry().*function)(from, static_cast<float*>(row.to), row.count);
  return true;
}

ElementFunction of_singles(const Facts& facts) {
  const std::string_view op = facts.signature().op;
  constexpr double vectors = 2;
  if (op == "Sin") return {singles<&TrigonometryKernels::sin>, {}, vectors};
  if (op == "Cos") return {singles<&TrigonometryKernels::cos>, {}, vectors};
  if (op == "Tan") return {singles<&TrigonometryKernels::tan>, {}, vectors};
  if (op == "Asin") return {singles<&TrigonometryKernels::asin>, {}, vectors};
  if (op == "Acos") return {singles<&TrigonometryKernels::acos>, {}, vectors};
  if (op == "Atan") return {singles<&TrigonometryKernels::atan>, {}, vectors};
  return {};
}

template <class A>
ElementFunction of_integers(const Facts& facts) {
  const std::string_view op = facts.signature().op;
  if (op == "Sign") return {signs<A>};
  if (op == "Relu") return {positive_parts<A>};
  if (op == "BitwiseNot") return {complements<std::make_unsigned_t<A>>};
  if (op == "Erf") return {truncated_erf<A>};
  if (op != "Shrink") return {};
  return {shrunk<A>, {number(facts, "bias", 0), number(facts, "lambd", 0)}};
}

}  // namespace

ElementFunction element_function(const Facts& facts, Type from, Type to) {
  const std::string_view op = facts.signature().op;
  if (to == Type::boolean) {
    if (op != "IsInf") return {};
    const std::array<double, 2> detected{static_cast<double>(facts.integer("detect_negative", 1)),
                                         static_cast<double>(facts.integer("detect_positive", 1))};
    if (from == Type::float32) return {is_infinite<float>, detected};
    if (from == Type::float64) return {is_infinite<double>, detected};
    return {};
  }
  if (from != to) return {};
  if (from == Type::float64) return of_doubles(facts);
  if (from == Type::float32) return of_singles(facts);
  return for_integer(from, [&](auto zero) { return of_integers<decltype(zero)>(facts); });
}

}  // namespace touchstone::optimized
