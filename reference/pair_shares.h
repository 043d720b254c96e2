// Class probabilities of a classifier that has one machine per pair of classes. They fit best to
// the pairwise probabilities and are iterated as in LIBSVM, to the same tolerance. The same code
// serves native numbers and extended precision.
#pragma once

#include <algorithm>
#include <type_traits>
#include <vector>

#include "core/budget.h"
#include "reference/kernel.h"

namespace touchstone {

namespace detail {

template <class S>
using Square = std::vector<std::vector<S>>;

// Returns the probabilities p of k classes with p[i] / (p[i] + p[j]) near r[i][j] (Wu, Lin and Weng
// 2004, their second method).
template <class S>
std::vector<S> coupled(const Square<S>& r) {
  const Index k = size(r);
  const S enough = constant<S>(0.005) / from_index<S>(k), one = constant<S>(1),
          two = constant<S>(2);
  Square<S> q(r.size(), std::vector<S>(r.size()));
  const auto at = [](auto& list, Index i) -> auto& { return list[static_cast<std::size_t>(i)]; };
  for (const Index i : Steps(0, k)) {
    Sum<S> own;
    for (const Index j : Steps(0, k)) {
      if (j == i) continue;
      own.add(at(at(r, j), i) * at(at(r, j), i));
      at(at(q, i), j) = -(at(at(r, j), i) * at(at(r, i), j));
    }
    at(at(q, i), i) = own.get();
  }
  std::vector<S> p(r.size(), one / from_index<S>(k)), qp(r.size());
  bool sure = true;
  for ([[maybe_unused]] const Index round : Steps(0, std::max<Index>(100, k))) {
    Sum<S> sum;
    Max<S> worst;
    for (const Index i : Steps(0, k)) {
      Sum<S> product;
      for (const Index j : Steps(0, k)) product.add(at(at(q, i), j) * at(p, j));
      at(qp, i) = product.get();
      sum.add(at(p, i) * at(qp, i));
    }
    S whole = sum.get();
    for (const S& each : qp) worst.add(prim::abs(each - whole));
    const auto done = less(worst.get(), enough);
    if constexpr (!std::is_same_v<std::decay_t<decltype(done)>, bool>) sure = sure && done.certain;
    if (surely(done)) break;
    for (const Index i : Steps(0, k)) {
      const S step = (whole - at(qp, i)) / at(at(q, i), i), grown = one + step;
      at(p, i) = at(p, i) + step;
      whole = (whole + step * (step * at(at(q, i), i) + two * at(qp, i))) / (grown * grown);
      for (const Index j : Steps(0, k)) {
        at(p, j) = at(p, j) / grown;
        at(qp, j) = (at(qp, j) + step * at(at(q, i), j)) / grown;
      }
    }
  }
  // If a faithful evaluation may have stopped at another step, anything is valid.
  if constexpr (requires { S::anything(0); }) {
    for (S& each : p) each = sure ? each : S::anything(each.hi, each.lo);
  }
  return p;
}

}  // namespace detail

// `scores`, `a` and `b` have an element per pair: (0, 1), (0, 2) ... (1, 2) ...
template <class S>
std::vector<S> pair_shares(const std::vector<S>& scores, Index classes, const std::vector<float>& a,
                           const std::vector<float>& b) {
  const S one = constant<S>(1), least = constant<S>(1e-7), most = one - least;
  const Charge charge(bytes_of_array(Shape{classes, classes}, 2 * sizeof(S)));
  const auto many = static_cast<std::size_t>(classes);
  detail::Square<S> r(many, std::vector<S>(many));
  Index pair = 0;
  for (std::size_t i = 0; i < many; ++i) {
    for (std::size_t j = i + 1; j < many; ++j, ++pair) {
      const S said = prim::sigmoid(
          -(item(scores, pair) * constant<S>(item(a, pair)) + constant<S>(item(b, pair))));
      r[i][j] = prim::minimum(prim::maximum(said, least), most);
      r[j][i] = one - r[i][j];
    }
  }
  return detail::coupled(r);
}

}  // namespace touchstone
