// Sums in other orders than the kernels' own, as faithful runtimes may add the same terms. A
// variant is a kernel whose Sum is replaced by Ordered.
#pragma once

#include <span>
#include <vector>

#include "reference/number.h"

namespace touchstone {

enum class Order { reversed, pairwise, lanes };
#ifndef TOUCHSTONE_ORDER
#define TOUCHSTONE_ORDER reversed
#endif

template <class C>
C added(std::span<const C> terms, Order order) {
  C sum = constant<C>(0);
  if (order == Order::reversed) {
    for (auto x = terms.rbegin(); x != terms.rend(); ++x) sum = sum + *x;
  } else if (order == Order::pairwise) {
    if (terms.size() == 1) return terms[0];
    const std::size_t half = terms.size() / 2;
    if (half > 0) sum = added(terms.first(half), order) + added(terms.subspan(half), order);
  } else {  // eight lanes, as in a vector register, then their sum
    constexpr std::size_t lanes = 8;
    std::vector<C> partial(lanes, sum);
    for (std::size_t k = 0; k < terms.size(); ++k)
      partial[k % lanes] = partial[k % lanes] + terms[k];
    for (const C& x : partial) sum = sum + x;
  }
  return sum;
}

#ifdef TOUCHSTONE_PLAIN  // the compiler may reorder
template <class C>
using Ordered = Sum<C>;
#else
template <class C>
struct Ordered {
  std::vector<C> terms;
  void add(const C& x) { terms.push_back(x); }
  void subtract(const C& x) { terms.push_back(constant<C>(0) - x); }
  C get() const { return added<C>(terms, Order::TOUCHSTONE_ORDER); }
};
#endif

}  // namespace touchstone
