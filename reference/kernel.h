// Umbrella header of generated kernels: lists, numbers, views, facts, and helpers used only by
// kernels.
#pragma once

#include <optional>

#include "reference/bind.h"
#include "reference/facts.h"
#include "reference/integers.h"
#include "reference/number.h"
#include "reference/primitives.h"
#include "reference/view.h"

namespace touchstone {

template <class T>
constexpr bool is_float_element =
    std::is_floating_point_v<Compute<T>> || is_extended<std::remove_const_t<T>>;
template <class T>
constexpr bool is_complex_element = false;
template <class R>
constexpr bool is_complex_element<std::complex<R>> = true;

// Result type of comparing elements of T: bool, or TriBool for bounded semantics.
template <class T>
struct PredicateOf {
  using Is = decltype(less(std::declval<const Compute<T>&>(), std::declval<const Compute<T>&>()));
};
template <class T>
using Predicate = typename PredicateOf<T>::Is;

// Throws for a string attribute that names none of the choices of a match.
template <class C>
[[noreturn]] C unknown_choice(std::string_view text) {
  throw Error(ErrorKind::invalid_model,
              "'" + std::string(text) + "' is not one of the values that the attribute may have");
}

template <class R>
std::vector<R> as_reals(const std::vector<float>& list) {
  std::vector<R> r;
  for (float x : list) r.push_back(constant<R>(x));
  return r;
}

// Tracks the first of the largest (smallest) elements; NaN wins, as in Max and Min.
template <class C, class At>
struct FirstLargest {
  C v{};
  At at{};
  bool any = false;
  void add(const C& x, const At& where) {
    if (any) note_choice(v, x);
    if (any && !surely(less(v, x)) && !(surely(is_nan(x)) && !surely(is_nan(v)))) return;
    v = x, at = where, any = true;
  }
};
template <class C, class At>
struct FirstSmallest {
  C v{};
  At at{};
  bool any = false;
  void add(const C& x, const At& where) {
    if (any) note_choice(v, x);
    if (any && !surely(less(x, v)) && !(surely(is_nan(x)) && !surely(is_nan(v)))) return;
    v = x, at = where, any = true;
  }
};

// Scatter with a reduction: several updates may hit one element. A accumulates the old value and
// the updates in any order.
template <class A, class T>
class Scattered {
 public:
  explicit Scattered(const View<T>& over)
      : over_(over),
        charge_(bytes_of_array(over.shape, sizeof(A))),
        accumulators_(static_cast<std::size_t>(count(over.shape))),
        met_(accumulators_.size(), false) {}
  template <class C>
  void add(const IndexVector& at, const C& value) {
    const auto k = static_cast<std::size_t>(over_.offset(at));
    if (!met_[k]) accumulators_[k].add(load(over_.data[k]));
    met_[k] = true;
    accumulators_[k].add(value);
  }
  void finish() {
    for (std::size_t k = 0; k < accumulators_.size(); ++k) {
      if (met_[k]) put(over_.data[k], over_.type, accumulators_[k].get());
    }
  }

 private:
  const View<T>& over_;
  Charge charge_;
  std::vector<A> accumulators_;
  std::vector<bool> met_;
};
// Scatter in which the last update wins. Throws if `at` is out of range.
template <class T, class C>
void scatter(const View<T>& over, const IndexVector& at, const C& value) {
  if (at.size() != over.shape.size()) over.outside(at);
  put(over.data[over.offset(at)], over.type, value);
}

// Recurrent state as later steps read it: the computed values. In bounded semantics, the values
// that the target's outputs imply instead, so that the error of one step does not accumulate over
// all others.
template <class T, class A>
class Followed {
 public:
  explicit Followed(A& computed) : computed_(computed) {}
  const A& get() const { return computed_; }
  template <class F>
  void watch(F) {}
  void take(Index) {}

 private:
  A& computed_;
};

// Calls a recurrent operator's activation function by its lower-case name, with its alpha and beta.
template <class C, class R>
C activate(std::string_view name, const C& x, const R& alpha, const R& beta) {
  const C zero = constant<C>(0), one = constant<C>(1), a = from_real<C>(alpha),
          b = from_real<C>(beta);
  if (name == "sigmoid") return prim::sigmoid(x);
  if (name == "tanh") return prim::tanh(x);
  if (name == "relu") return prim::maximum(x, zero);
  if (name == "affine") return a * x + b;
  if (name == "leakyrelu") return select(less(x, zero), a * x, x);
  if (name == "thresholdedrelu") return select(less(x, a), zero, x);
  if (name == "scaledtanh") return a * prim::tanh(b * x);
  if (name == "hardsigmoid") return prim::minimum(prim::maximum(a * x + b, zero), one);
  if (name == "elu") return select(less(x, zero), a * (prim::exp(x) - one), x);
  if (name == "softsign") return x / (one + prim::abs(x));
  if (name == "softplus") return prim::softplus(x);
  return unknown_choice<C>(name);
}

}  // namespace touchstone
