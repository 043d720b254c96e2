// Binds a kernel's parameters to extended precision numbers, as reference/bind.h does to native
// ones.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <random>

#include "core/error.h"
#include "core/numbers/convert.h"
#include "reference/bind.h"
#include "reference/semantics/extended_call.h"

namespace touchstone {

// Compute format for these element types: double if one is, else float. Undefined if none is a
// float type, since the entry then computes exactly in integers.
inline Type computing_type(std::initializer_list<Type> types) {
  Type found = Type::undefined;
  for (Type type : types) {
    if (type == Type::undefined || !facts(type).is_float) continue;
    if (type == Type::float64) return type;
    found = Type::float32;
  }
  return found;
}

template <class S>
struct ExtendedScope {
  explicit ExtendedScope(Type) {}
};
template <>
struct ExtendedScope<Bounded> {
  explicit ExtendedScope(Type computing) : scope(computing) {}
  BoundedScope scope;
};

template <class S>
S exactly(const Tensor& tensor, Index k) {
  return S::of(number_at(tensor, k));
}
template <>
inline Bounded exactly<Bounded>(const Tensor& tensor, Index k) {
  const long double value = number_at(tensor, k);
  const auto hi = static_cast<double>(value);
  // A double that a float32 computation reads is rounded, as an integer is.
  const bool fits = facts(tensor.type()).is_float &&
                    (tensor.type() != Type::float64 || semantics_context.precision == 53);
  return fits || !std::isfinite(hi) ? Bounded::raw(hi, 0, 0)
                                    : bounded::rounded(hi, static_cast<double>(value - hi), 0);
}

// Positions to sample: the corners, the extremes of the target's answer, the rest by the seed.
std::vector<Index> sample_positions(const Shape& shape, const Tensor* observed, Index sample,
                                    std::uint64_t seed);

// Views of one call's inputs and outputs as numbers of type S.
template <class S>
class ExtendedBind {
 public:
  explicit ExtendedBind(ExtendedCall<S>& call) : call_(call) {
    call.outputs.resize(call.observed.size());
    unsure_choice = false;
  }
  ExtendedBind(const ExtendedBind&) = delete;
  ExtendedBind& operator=(const ExtendedBind&) = delete;

  template <class T>
  View<const T> in(Index k) {
    const Tensor* tensor = tensor_of(call_.inputs, k);
    if (const std::vector<Bounded>* carried = tensor ? carried_at(k) : nullptr) {
      if constexpr (std::is_same_v<T, S> && std::is_same_v<S, Bounded>)
        return {carried->data(), tensor->shape(), tensor->type()};
      throw Error(ErrorKind::unsupported, "an input that was not seen decides");
    }
    return tensor ? of<T>(*tensor) : View<const T>{};
  }
  template <class T>
  std::vector<View<const T>> family(Index from) {
    std::vector<View<const T>> all;
    for (Index k = from; k < static_cast<Index>(call_.inputs.size()); ++k) all.push_back(in<T>(k));
    return all;
  }
  template <class T>
  View<const T> attribute(const Facts& facts, std::string_view name) {
    const Tensor* tensor = facts.tensor(name);
    return tensor ? of<T>(*tensor) : View<const T>{};
  }
  View<const std::int64_t> indices(Index k) {
    const Tensor* tensor = tensor_of(call_.inputs, k);
    if (!tensor) return {};
    if (carried_at(k)) throw Error(ErrorKind::unsupported, "an input that was not seen decides");
    std::int64_t* held = scratch<std::int64_t>(tensor->size());
    for (Index i = 0; i < tensor->size(); ++i)
      held[i] = static_cast<std::int64_t>(number_at(*tensor, i));
    return {held, tensor->shape(), Type::int64};
  }
  // The target's answer as exact numbers, for recurrences to follow.
  template <class T>
  View<const T> observed(Index k) {
    const Tensor* tensor = tensor_of(call_.observed, k);
    return tensor ? of<T>(*tensor) : View<const T>{};
  }
  template <class T>
  View<T> out(Index k, Type type, const Shape& shape) {
    View<T> view(scratch<T>(count(shape)), shape, type);
    if constexpr (std::is_same_v<T, S>) {
      made_.push_back({k, view, nullptr});
      if (call_.sample > 0 && count(shape) > call_.sample) {
        made_.back().sample = std::make_unique<std::vector<Index>>(
            sample_positions(shape, tensor_of(call_.observed, k), call_.sample, call_.seed));
        view.sample = made_.back().sample.get();
      }
    }
    return view;
  }
  void finish() {
    for (Made& made : made_) {
      if (made.k >= static_cast<Index>(call_.outputs.size())) continue;
      ExtendedOutput<S>& output = call_.outputs[static_cast<std::size_t>(made.k)];
      output.shape = made.view.shape, output.type = made.view.type, output.present = true;
      output.unsure_choice = unsure_choice;
      if (made.sample) {
        output.at = *made.sample;
        for (Index k : output.at) output.values.push_back(made.view.data[k]);
      } else {
        output.values.assign(made.view.data, made.view.data + count(made.view.shape));
      }
    }
  }

 private:
  struct Made {
    Index k;
    View<S> view;
    std::unique_ptr<std::vector<Index>> sample;
  };

  const std::vector<Bounded>* carried_at(Index k) const {
    return k < static_cast<Index>(call_.carried.size()) ? call_.carried[static_cast<std::size_t>(k)]
                                                        : nullptr;
  }
  static const Tensor* tensor_of(const std::vector<Value>& values, Index k) {
    if (k >= static_cast<Index>(values.size()) || !values[static_cast<std::size_t>(k)].is_tensor())
      return nullptr;
    return &values[static_cast<std::size_t>(k)].tensor();
  }
  template <class T>
  View<const T> of(const Tensor& tensor) {
    if constexpr (std::is_same_v<T, S>) {
      S* held = scratch<S>(tensor.size());
      for (Index k = 0; k < tensor.size(); ++k) held[k] = exactly<S>(tensor, k);
      return {held, tensor.shape(), tensor.type()};
    } else {
      return {tensor.data<T>(), tensor.shape(), tensor.type()};
    }
  }
  template <class T>
  T* scratch(Index size) {
    auto held = std::shared_ptr<T[]>(new T[static_cast<std::size_t>(size)]());
    scratch_.push_back(held);
    return held.get();
  }

  ExtendedCall<S>& call_;
  std::vector<std::shared_ptr<void>> scratch_;
  std::vector<Made> made_;
};

template <ExtendedNumber R>
std::vector<R> extended_reals(const Described& d) {
  std::vector<R> r;
  if (!d.given) return r;
  for (Index k = 0; k < d.tensor->size(); ++k) r.push_back(exactly<R>(*d.tensor, k));
  return r;
}
template <>
inline std::vector<Bounded> reals<Bounded>(const Described& d) {
  return extended_reals<Bounded>(d);
}
template <>
inline std::vector<Exact> reals<Exact>(const Described& d) {
  return extended_reals<Exact>(d);
}
template <>
inline std::vector<Opaque> reals<Opaque>(const Described&) {
  return {};
}

// Value of an output at a position; nothing if it is not given or the position is out of range.
template <class T>
std::optional<std::remove_const_t<T>> observed(const View<T>& view, const IndexVector& spot) {
  if (!view.given() || !view.holds(spot)) return std::nullopt;
  return view.data[view.offset(spot)];
}

template <class S, class A>
requires ExtendedNumber<S>
class Followed<S, A> {
 public:
  explicit Followed(A& computed) : computed_(computed), seen_(computed.shape) {}
  const A& get() const { return seen_; }
  template <class F>
  void watch(F f) {
    watch_ = std::move(f);
  }
  void take(Index step) {
    for (const Row& row : rows_at(seen_, step)) {
      for (Index x = 0; x < row.length; ++x) {
        const IndexVector at = row.point(x);
        const std::optional<S> shown = watch_ ? watch_(at) : std::nullopt;
        seen_.data[seen_.offset(at)] = shown ? *shown : computed_.data[computed_.offset(at)];
      }
    }
  }

 private:
  A& computed_;
  A seen_;
  std::function<std::optional<S>(const IndexVector&)> watch_;
};

}  // namespace touchstone
