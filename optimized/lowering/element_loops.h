// Loops over rows of one operand and of two, with a variant for each way in which they repeat.
#pragma once

#include "optimized/lowering/elements.h"

namespace touchstone::optimized {

template <class A>
const A* at(const ElementRow& row, std::size_t k) {
  return static_cast<const A*>(row.from[k]);
}

template <class A, class To, class F>
void each(const ElementRow& row, F f) {
  const A* const a = at<A>(row, 0);
  To* const to = static_cast<To*>(row.to);
  const Index n = row.count, step = row.steps[0];
  if (step == 1) {
    for (Index k = 0; k < n; ++k) to[k] = f(a[k]);
  } else {
    for (Index k = 0; k < n; ++k) to[k] = f(a[k * step]);
  }
}

template <class A, class To, class F>
void each_pair(const ElementRow& row, F f) {
  const A *const a = at<A>(row, 0), *const b = at<A>(row, 1);
  To* const to = static_cast<To*>(row.to);
  const Index n = row.count, first = row.steps[0], second = row.steps[1];
  if (first == 1 && second == 1) {
    for (Index k = 0; k < n; ++k) to[k] = f(a[k], b[k]);
  } else if (first == 1 && second == 0) {
    const A y = *b;
    for (Index k = 0; k < n; ++k) to[k] = f(a[k], y);
  } else if (first == 0 && second == 1) {
    const A x = *a;
    for (Index k = 0; k < n; ++k) to[k] = f(x, b[k]);
  } else {
    for (Index k = 0; k < n; ++k) to[k] = f(a[k * first], b[k * second]);
  }
}

template <class A>
bool has_zero(const ElementRow& row) {
  const A* const b = at<A>(row, 1);
  const Index n = row.steps[1] == 0 ? 1 : row.count;
  bool any = false;
  for (Index k = 0; k < n; ++k) any = any || b[k * row.steps[1]] == 0;
  return any;
}

}  // namespace touchstone::optimized
