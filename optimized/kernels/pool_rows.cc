// Loops over the output row of a pool, which the compiler vectorizes.
//
// Compiled once per instruction set, with TOUCHSTONE_POOL_ROWS. Calls no inline function of the
// standard library, so that the linker cannot pick code for a newer processor for the rest of the
// program.
#include "optimized/kernels/pool_rows.h"

#include <utility>

namespace touchstone::optimized {

namespace {

// X: float, or a vector of floats.
struct Largest {
  static float first(float x) { return x; }
  template <class X>
  static X of(X held, X x) {
    return (x > held) | (x != x) ? x : held;
  }
};
struct Sum {
  static float first(float x) { return x; }
  template <class X>
  static X of(X held, X x) {
    return held + x;
  }
};
struct SumOfMagnitudes {
  static float first(float x) { return __builtin_fabsf(x); }
  template <class X>
  static X of(X held, X x) {
    return held + (x < 0 ? -x : x);
  }
};
struct SumOfSquares {
  static float first(float x) { return x * x; }
  template <class X>
  static X of(X held, X x) {
    return held + x * x;
  }
};

constexpr int bytes = TOUCHSTONE_VECTOR_BYTES;

// Every second one of 2 * n - 1 floats, for n floats in a vector.
template <int n>
struct EverySecond {
  using Vector __attribute__((vector_size(4 * n))) = float;
  using Anywhere __attribute__((vector_size(4 * n), aligned(4), may_alias)) = float;

  // The second vector begins one float early, so that no float behind the last one is read.
  static Vector of(const float* from) {
    return chosen(load(from), load(from + n - 1), std::make_integer_sequence<int, n>());
  }
  static Vector load(const float* from) { return *reinterpret_cast<const Anywhere*>(from); }

 private:
  template <int... k>
  static Vector chosen(Vector low, Vector high, std::integer_sequence<int, k...>) {
    return __builtin_shufflevector(low, high, (k < n / 2 ? 2 * k : 2 * k + 1)...);
  }
};

// Combines vectors of n floats with every second float, as long as there are so many. Returns the
// number of floats done.
template <class Combined, int n>
std::int64_t combine_seconds(const float* from, float* to, std::int64_t k, std::int64_t count) {
  using Floats = EverySecond<n>;
  for (; k + n <= count; k += n) {
    const auto made = Combined::of(Floats::load(to + k), Floats::of(from + 2 * k));
    *reinterpret_cast<typename Floats::Anywhere*>(to + k) = made;
  }
  return k;
}

// Not inlined: the compiler would join the loops of two lines, and then not vectorize them.
template <class Combined>
[[gnu::noinline]] void combine(const float* __restrict from, std::int64_t stride,
                               float* __restrict to, std::int64_t count) {
  if (stride == 1) {
    for (std::int64_t k = 0; k < count; ++k) to[k] = Combined::of(to[k], from[k]);
  } else if (stride == 2) {
    std::int64_t k = combine_seconds<Combined, bytes / 4>(from, to, 0, count);
    if constexpr (bytes > 32) k = combine_seconds<Combined, 8>(from, to, k, count);
    if constexpr (bytes > 16) k = combine_seconds<Combined, 4>(from, to, k, count);
    for (; k < count; ++k) to[k] = Combined::of(to[k], from[2 * k]);
  } else {
    for (std::int64_t k = 0; k < count; ++k) to[k] = Combined::of(to[k], from[k * stride]);
  }
}

// Joined combines what Combined made.
template <class Combined, class Joined>
void combine_all(const PoolLines& of, float* to) {
  constexpr std::int64_t widest = 2048;
  if (of.line_count == 1 || of.width > widest || of.term_count == 1) {
    for (std::int64_t line = 0; line < of.line_count; ++line) {
      for (std::int64_t t = 0; t < of.term_count; ++t) {
        const PoolTerm& term = of.terms[t];
        combine<Combined>(of.lines[line] + term.from, of.stride, to + term.to, term.count);
      }
    }
    return;
  }
  // The columns of all lines first.
  float columns[widest];
  for (std::int64_t x = 0; x < of.width; ++x) columns[x] = Combined::first(of.lines[0][x]);
  for (std::int64_t line = 1; line < of.line_count; ++line)
    combine<Combined>(of.lines[line], 1, columns, of.width);
  for (std::int64_t t = 0; t < of.term_count; ++t) {
    const PoolTerm& term = of.terms[t];
    combine<Joined>(columns + term.from, of.stride, to + term.to, term.count);
  }
}

}  // namespace

void TOUCHSTONE_POOL_ROWS(PoolRow row, const PoolLines& of, float* to) {
  switch (row) {
    case PoolRow::largest:
      return combine_all<Largest, Largest>(of, to);
    case PoolRow::sum:
      return combine_all<Sum, Sum>(of, to);
    case PoolRow::sum_of_magnitudes:
      return combine_all<SumOfMagnitudes, Sum>(of, to);
    case PoolRow::sum_of_squares:
      return combine_all<SumOfSquares, Sum>(of, to);
  }
}

}  // namespace touchstone::optimized
