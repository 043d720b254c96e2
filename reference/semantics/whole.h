// Integer elements that a definition computes in reals: the integers to which some faithful real
// converts. Other integer arithmetic is exact and native.
#pragma once

#include <memory>
#include <vector>

#include "reference/semantics/extended.h"

namespace touchstone {

// An integer element with bounds. A kernel takes its branch of integers, with reals of S.
template <class S>
struct Whole : S {
  Whole() = default;
  Whole(const S& s) : S(s) {}  // NOLINT: implicit, as a move of one element
};

template <class T>
constexpr bool is_whole = false;
template <class S>
constexpr bool is_whole<Whole<S>> = true;

template <class S>
constexpr bool is_extended<Whole<S>> = true;
template <class S>
constexpr bool is_integer_element<Whole<S>> = true;
template <class S>
constexpr bool is_float_element<Whole<S>> = false;
template <class S>
struct RealOf<Whole<S>> {
  using Is = S;
};
template <class S>
struct RealInOf<Whole<S>> {
  using Is = S;
};
template <class S>
struct IndexOf<Whole<S>> : IndexOf<S> {};
template <class S>
struct PredicateOf<Whole<S>> : PredicateOf<S> {};

template <class W>
requires is_whole<W> W constant(double x) { return constant<Real<W>>(x); }

template <class S>
Whole<S> either_of(const Whole<S>& a, const Whole<S>& b) {
  return either_of(static_cast<const S&>(a), static_cast<const S&>(b));
}

// Integers that a real within the bound of x converts to. One out of the type's range keeps its low
// bits, unless `saturate`.
Bounded convert_whole(const Bounded& x, Type to, bool saturate);
inline Exact convert_whole(const Exact& x, Type to, bool saturate) {
  return convert_to<Exact>(x, to, saturate);
}
template <class W>
requires is_whole<W> W convert_element(const Real<W>& x, Type type, bool saturate = false) {
  return convert_whole(x, type, saturate);
}

// ExtendedBind for kernels of Whole<S>.
template <class S>
class WholeBind {
 public:
  explicit WholeBind(ExtendedCall<S>& call) : bind_(call) {}

  template <class T>
  View<const T> in(Index k) {
    const View<const S> given = bind_.template in<S>(k);
    if constexpr (std::is_same_v<T, S>) {
      return given;
    } else {
      if (!given.given()) return {};
      return {held(given.data, count(given.shape)), given.shape, given.type};
    }
  }
  template <class T>
  View<T> out(Index k, Type type, const Shape& shape) {
    const View<S> slot = bind_.template out<S>(k, type, shape);
    View<T> view(held(slot.data, count(shape)), shape, type);
    view.sample = slot.sample;
    made_.push_back({slot, view});
    return view;
  }
  void finish() {
    for (const auto& [slot, view] : made_)
      for (Index i = 0; i < count(slot.shape); ++i) slot.data[i] = view.data[i];
    bind_.finish();
  }

 private:
  Whole<S>* held(const S* data, Index size) {
    held_.push_back(std::make_unique<std::vector<Whole<S>>>(data, data + size));
    return held_.back()->data();
  }

  struct Made {
    View<S> slot;
    View<Whole<S>> view;
  };
  ExtendedBind<S> bind_;
  std::vector<std::unique_ptr<std::vector<Whole<S>>>> held_;
  std::vector<Made> made_;
};

}  // namespace touchstone
