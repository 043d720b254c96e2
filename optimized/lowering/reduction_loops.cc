// Reductions of rows of float64, integers and bools.
#include "optimized/lowering/reduction_loops.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace touchstone::optimized {
namespace {

// Accumulator of a sum: float64, or an integer modulo 2^64.
template <class T>
using Wide = std::conditional_t<std::is_floating_point_v<T>, double, std::uint64_t>;
template <class T>
Wide<T> widen(T x) {
  if constexpr (std::is_signed_v<T> && std::is_integral_v<T>) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(x));
  } else {
    return static_cast<Wide<T>>(x);
  }
}
// The number that a sum stands for: types below 64 bits are summed as int64.
template <class T>
auto number(Wide<T> sum) {
  if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, std::uint64_t>) {
    return sum;
  } else {
    return static_cast<std::int64_t>(sum);
  }
}

template <class T>
struct Sum {
  using C = Wide<T>;
  static constexpr C first = 0;
  static C term(T x) { return widen(x); }
  static C join(C a, C b) { return a + b; }
};
template <class T>
struct Squares : Sum<T> {
  static Wide<T> term(T x) { return widen(x) * widen(x); }
};
template <class T>
struct Magnitudes : Sum<T> {
  static Wide<T> term(T x) { return x < 0 ? -widen(x) : widen(x); }
};
template <class T>
struct Product : Sum<T> {
  static constexpr Wide<T> first = 1;
  static Wide<T> join(Wide<T> a, Wide<T> b) { return a * b; }
};
template <>
double Magnitudes<double>::term(double x) {
  return std::fabs(x);
}
template <class T>
struct Most {
  using C = T;
  static constexpr C first = std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity()
                                                         : std::numeric_limits<T>::lowest();
  static C term(T x) { return x; }
  static C join(C a, C b) { return a < b || b != b ? b : a; }
};
template <class T>
struct Least {
  using C = T;
  static constexpr C first = std::is_floating_point_v<T> ? std::numeric_limits<T>::infinity()
                                                         : std::numeric_limits<T>::max();
  static C term(T x) { return x; }
  static C join(C a, C b) { return b < a || b != b ? b : a; }
};

template <class Op>
void start(void* accumulators, Index count) {
  std::fill_n(static_cast<typename Op::C*>(accumulators), count, Op::first);
}
template <class Op, class T>
void along(const void* from, Index count, void* accumulator) {
  using C = typename Op::C;
  constexpr Index side = 8;  // partial results, side by side
  const T* const x = static_cast<const T*>(from);
  C& to = *static_cast<C*>(accumulator);
  std::array<C, side> part;
  part.fill(Op::first);
  Index k = 0;
  for (; k + side <= count; k += side) {
    for (Index j = 0; j < side; ++j) {
      C& one = part[static_cast<std::size_t>(j)];
      one = Op::join(one, Op::term(x[k + j]));
    }
  }
  if (k > 0) {
    for (const C one : part) to = Op::join(to, one);
  }
  for (; k < count; ++k) to = Op::join(to, Op::term(x[k]));
}
template <class Op, class T>
void beside(const void* from, Index count, void* accumulators) {
  const T* const x = static_cast<const T*>(from);
  auto* const to = static_cast<typename Op::C*>(accumulators);
  for (Index k = 0; k < count; ++k) to[k] = Op::join(to[k], Op::term(x[k]));
}
template <class Op>
void join(void* first, const void* second) {
  using C = typename Op::C;
  C& to = *static_cast<C*>(first);
  to = Op::join(to, *static_cast<const C*>(second));
}

// Calls f(accumulator, result) for each; f returns false for a result beyond the type.
template <class C, class T, class F>
bool finish(const void* accumulators, Index count, void* to, F f) {
  bool fine = true;
  for (Index k = 0; k < count; ++k)
    fine = f(static_cast<const C*>(accumulators)[k], static_cast<T*>(to)[k]) && fine;
  return fine;
}
template <class C, class T>
bool as_it_is(const void* accumulators, Index count, Index, void* to) {
  return finish<C, T>(accumulators, count, to, [](C x, T& made) {
    made = static_cast<T>(x);
    return true;
  });
}
template <class T>
bool mean(const void* accumulators, Index count, Index terms, void* to) {
  if (!std::is_floating_point_v<T> && terms == 0) return false;
  return finish<Wide<T>, T>(accumulators, count, to, [=](Wide<T> x, T& made) {
    const auto sum = number<T>(x);
    made = static_cast<T>(sum / static_cast<decltype(sum)>(terms));
    return true;
  });
}
// A function of a sum in float64, truncated for an integer; NaN and infinities are zero there.
template <class T, class F>
bool computed(const void* accumulators, Index count, void* to, F f) {
  return finish<Wide<T>, T>(accumulators, count, to, [=](Wide<T> x, T& made) {
    const double y = f(static_cast<double>(number<T>(x)));
    if constexpr (std::is_floating_point_v<T>) {
      made = y;
    } else {
      made = std::isfinite(y) ? static_cast<T>(static_cast<std::int64_t>(y)) : T{0};
    }
    return true;
  });
}
template <class T>
bool root(const void* accumulators, Index count, Index, void* to) {
  return computed<T>(accumulators, count, to, [](double x) { return std::sqrt(x); });
}
template <class T>
bool logarithm(const void* accumulators, Index count, Index, void* to) {
  return computed<T>(accumulators, count, to, [](double x) { return std::log(x); });
}
bool is_true(const void* accumulators, Index count, Index, void* to) {
  using Byte = std::uint8_t;
  return finish<Byte, Byte>(accumulators, count, to, [](Byte x, Byte& made) {
    made = x != 0 ? 1 : 0;
    return true;
  });
}

using Finish = bool (*)(const void*, Index, Index, void*);
template <class Op, class T, Finish last>
constexpr ReductionLoops loops{sizeof(typename Op::C), start<Op>, along<Op, T>,
                               beside<Op, T>,          join<Op>,  last};

// Logarithm of a sum of exponentials of what the elements exceed the largest by; an infinite one is
// not subtracted.
struct Exponentials {
  double most = -std::numeric_limits<double>::infinity(), sum = 0;
  double top() const { return std::isinf(most) ? 0 : most; }
};
void start_exponentials(void* accumulators, Index count) {
  std::fill_n(static_cast<Exponentials*>(accumulators), count, Exponentials{});
}
template <class T, bool again, bool beside>
void exponentials(const void* from, Index count, void* accumulators) {
  const T* const x = static_cast<const T*>(from);
  for (Index k = 0; k < count; ++k) {
    Exponentials& to = static_cast<Exponentials*>(accumulators)[beside ? k : 0];
    const auto one = static_cast<double>(x[k]);
    if (again)
      to.sum += std::exp(one - to.top());
    else
      to.most = Most<double>::join(to.most, one);
  }
}
template <class T>
bool log_sum_exp(const void* accumulators, Index count, Index, void* to) {
  return finish<Exponentials, T>(accumulators, count, to, [](const Exponentials& x, T& made) {
    const double y = x.top() + std::log(x.sum);
    if constexpr (std::is_floating_point_v<T>) {
      made = y;
      return true;
    } else {
      const bool inside = std::fabs(y) < 0x1p62;
      made = inside ? static_cast<T>(static_cast<std::int64_t>(y)) : T{0};
      return inside;
    }
  });
}
template <class T>
constexpr ReductionLoops exponential_loops{sizeof(Exponentials),
                                           start_exponentials,
                                           exponentials<T, false, false>,
                                           exponentials<T, false, true>,
                                           nullptr,
                                           log_sum_exp<T>,
                                           exponentials<T, true, false>,
                                           exponentials<T, true, true>};

template <class T>
const ReductionLoops* loops_of(std::string_view op) {
  if (op == "ReduceMax") return &loops<Most<T>, T, as_it_is<T, T>>;
  if (op == "ReduceMin") return &loops<Least<T>, T, as_it_is<T, T>>;
  if constexpr (sizeof(T) > 1) {
    constexpr Finish sum = as_it_is<Wide<T>, T>;
    if (op == "ReduceSum") return &loops<Sum<T>, T, sum>;
    if (op == "ReduceProd") return &loops<Product<T>, T, sum>;
    if (op == "ReduceSumSquare") return &loops<Squares<T>, T, sum>;
    if (op == "ReduceL1") return &loops<Magnitudes<T>, T, sum>;
    if (op == "ReduceMean") return &loops<Sum<T>, T, mean<T>>;
    if (op == "ReduceL2") return &loops<Squares<T>, T, root<T>>;
    if (op == "ReduceLogSumExp") return &exponential_loops<T>;
    if (op == "ReduceLogSum") return &loops<Sum<T>, T, logarithm<T>>;
  }
  return nullptr;
}

}  // namespace

const ReductionLoops* reduction_loops(std::string_view op, Type type) {
  switch (type) {
    case Type::boolean:
      if (op == "ReduceMax") return &loops<Most<std::uint8_t>, std::uint8_t, is_true>;
      if (op == "ReduceMin") return &loops<Least<std::uint8_t>, std::uint8_t, is_true>;
      return nullptr;
    case Type::int8:
      return loops_of<std::int8_t>(op);
    case Type::uint8:
      return loops_of<std::uint8_t>(op);
    case Type::int32:
      return loops_of<std::int32_t>(op);
    case Type::uint32:
      return loops_of<std::uint32_t>(op);
    case Type::int64:
      return loops_of<std::int64_t>(op);
    case Type::uint64:
      return loops_of<std::uint64_t>(op);
    case Type::float64:
      return loops_of<double>(op);
    default:
      return nullptr;
  }
}

}  // namespace touchstone::optimized
