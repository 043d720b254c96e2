// Loops over rows of one operand and of two, with a variant for each way in which they repeat.
// Functions are static: a file that is compiled once per instruction set has its own.
#pragma once

#include "optimized/kernels/element_rows.h"

namespace touchstone::optimized {

// Keeps the compiler from vectorizing a loop: rows of other strides are rare, and their code large.
[[gnu::always_inline]] static inline void stay_scalar() { asm volatile(""); }

template <class A>
static inline const A* at(const ElementRow& row, int k) {
  return static_cast<const A*>(row.from[k]);
}

template <class A, class To, class F>
static inline bool each(const ElementRow& row, F f) {
  const A* const a = at<A>(row, 0);
  To* const to = static_cast<To*>(row.to);
  const std::int64_t n = row.count, step = row.steps[0];
  if (step == 1) {
    for (std::int64_t k = 0; k < n; ++k) to[k] = f(a[k]);
  } else {
    for (std::int64_t k = 0; k < n; ++k) {
      stay_scalar();
      to[k] = f(a[k * step]);
    }
  }
  return true;
}

template <class A, class To, class F>
static inline bool each_pair(const ElementRow& row, F f) {
  const A *const a = at<A>(row, 0), *const b = at<A>(row, 1);
  To* const to = static_cast<To*>(row.to);
  const std::int64_t n = row.count, first = row.steps[0], second = row.steps[1];
  if (first == 1 && second == 1) {
    for (std::int64_t k = 0; k < n; ++k) to[k] = f(a[k], b[k]);
  } else if (first == 1 && second == 0) {
    const A y = *b;
    for (std::int64_t k = 0; k < n; ++k) to[k] = f(a[k], y);
  } else if (first == 0 && second == 1) {
    const A x = *a;
    for (std::int64_t k = 0; k < n; ++k) to[k] = f(x, b[k]);
  } else {
    for (std::int64_t k = 0; k < n; ++k) {
      stay_scalar();
      to[k] = f(a[k * first], b[k * second]);
    }
  }
  return true;
}

template <class A>
static inline bool has_zero(const ElementRow& row) {
  const A* const b = at<A>(row, 1);
  const std::int64_t n = row.steps[1] == 0 ? 1 : row.count;
  bool any = false;
  for (std::int64_t k = 0; k < n; ++k) any = any || b[k * row.steps[1]] == 0;
  return any;
}

}  // namespace touchstone::optimized
