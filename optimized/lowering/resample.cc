// Resize and Upsample: one pass for each axis that changes, over tables of the axis.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/budget.h"
#include "core/error.h"
#include "core/numbers/convert.h"
#include "optimized/kernels/resample.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/moves.h"
#include "optimized/lowering/resample_axes.h"
#include "optimized/lowering/resample_nearest.h"
#include "optimized/plan/groups.h"
#include "optimized/registry/isa.h"
#include "reference/calls.h"
#include "reference/kernel.h"

namespace touchstone::optimized {

const Resampling& resampling() { return BY_ISA(chosen_isa(), resample)(); }

namespace {

// Calls take<T>() for the numbers that are interpolated; returns false for other types.
template <class F>
bool with_number(Type type, F take) {
  const auto is = [&]<class T>() {
    if (type != type_of<T>) return false;
    take.template operator()<T>();
    return true;
  };
  return is.template operator()<float>() || is.template operator()<double>() ||
         is.template operator()<Float16>() || is.template operator()<BFloat16>() ||
         is.template operator()<std::int8_t>() || is.template operator()<std::uint8_t>() ||
         is.template operator()<std::int16_t>() || is.template operator()<std::uint16_t>() ||
         is.template operator()<std::int32_t>() || is.template operator()<std::uint32_t>() ||
         is.template operator()<std::int64_t>() || is.template operator()<std::uint64_t>();
}
bool is_number(Type type) {
  return with_number(type, []<class T>() {});
}

// The nearest element, ties to even; saturates. NaN becomes zero.
template <class T, class Q>
T narrowed(Q x) {
  if constexpr (!std::is_integral_v<T>) {
    T made;
    put(made, type_of<T>, static_cast<Compute<T>>(x));
    return made;
  } else {
    using Range = std::numeric_limits<T>;
    const Q beyond = std::ldexp(Q(1), Range::digits), low = std::is_signed_v<T> ? -beyond : Q(0);
    const Q rounded = std::nearbyint(x);
    if (rounded != rounded) return 0;
    if (rounded >= beyond) return Range::max();
    return rounded <= low ? Range::min() : static_cast<T>(rounded);
  }
}
template <class Q, class T>
Q widened(const T& x) {
  if constexpr (is_stored<T>) {
    return static_cast<Q>(to_float(x));
  } else {
    return static_cast<Q>(x);
  }
}

// The element outside of the image. Mode nearest truncates it to an integer.
template <class T>
T extrapolated(const ResampledAxes& axes) {
  if constexpr (std::is_integral_v<T>) {
    if (axes.nearest)
      return from_number<T>(static_cast<long double>(axes.extrapolation), Saturate::yes);
  }
  return narrowed<T>(axes.extrapolation);
}

// The axes that change, in an order that keeps the passes small.
std::vector<Index> order_of(const std::vector<ResampledAxis>& axes) {
  std::vector<Index> order;
  for (Index d = static_cast<Index>(axes.size()) - 1; d >= 0; --d) {
    if (!axes[static_cast<std::size_t>(d)].kept) order.push_back(d);
  }
  const auto growth = [&](Index d) {
    const ResampledAxis& axis = axes[static_cast<std::size_t>(d)];
    return static_cast<double>(axis.out) / static_cast<double>(axis.in);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return growth(a) < growth(b); });
  return order;
}

constexpr Index most_combinations = Index{1} << 16;  // of the taps of all axes

// True if an element has few combinations of taps.
bool has_few_taps(const std::vector<ResampledAxis>& axes) {
  Index combinations = 1;
  for (const ResampledAxis& axis : axes) {
    if (axis.taps > most_combinations / combinations) return false;
    combinations *= axis.taps;
  }
  return true;
}

// Sums the rows of an output in the definition's order, so that rounding to integers gives the
// definition's result at every tie. `sums`: a row of numbers.
template <class T>
void sum_row(const T* from, const std::vector<ResampledAxis>& axes, const IndexVector& strides,
             Index row, float* sums) {
  const ResampledAxis& last = axes.back();
  std::fill_n(sums, last.out, 0.0F);
  Index combinations = 1;
  for (std::size_t d = 0; d + 1 < axes.size(); ++d) combinations *= axes[d].taps;
  IndexVector at(static_cast<Index>(axes.size()), 0);
  for (Index d = static_cast<Index>(axes.size()) - 2, rest = row; d >= 0; --d) {
    const Index out = axes[static_cast<std::size_t>(d)].out;
    at[d] = rest % out;
    rest /= out;
  }
  for (Index k = 0; k < combinations; ++k) {
    charge_work(last.taps * last.out);
    Index base = 0, rest = k, below = combinations;
    float share = 1;
    for (Index d = 0; d + 1 < static_cast<Index>(axes.size()); ++d) {
      const ResampledAxis& axis = axes[static_cast<std::size_t>(d)];
      below /= axis.taps;
      const Index term = rest / below * axis.out + at[d];
      rest %= below;
      base += axis.index.data<std::int32_t>()[term] * strides[d];
      share *= axis.share.data<float>()[term];
    }
    for (Index t = 0; t < last.taps; ++t) {
      const auto* const index = last.index.data<std::int32_t>() + t * last.out;
      const float* const shares = last.share.data<float>() + t * last.out;
      for (Index x = 0; x < last.out; ++x)
        sums[x] += static_cast<float>(from[base + index[x]]) * (share * shares[x]);
    }
  }
}

template <class Q>
void sum(RunState& state, const Q* from, Q* to, const ResampledAxis& axis, AxisExtents extents) {
  const AxisSum<Q> call{from,
                        to,
                        axis.index.data<std::int32_t>(),
                        axis.share.data<Q>(),
                        axis.taps,
                        axis.in,
                        axis.out,
                        extents.inner};
  const bool rows = extents.inner > 1;
  split_grid(state, rows ? extents.outer * axis.out : extents.outer,
             rows ? extents.inner : axis.out, axis.taps,
             [&](Index row, Index many, Index column, Index columns) {
               if constexpr (std::is_same_v<Q, float>) {
                 resampling().sum32(call, row, many, column, columns);
               } else {
                 resampling().sum64(call, row, many, column, columns);
               }
             });
}

// The largest sum of the magnitudes of an element's weights along an axis.
double reach_of(const ResampledAxis& axis) {
  double largest = 0;
  for (Index k = 0; k < axis.out; ++k) {
    double sum = 0;
    for (Index tap = 0; tap < axis.taps; ++tap) {
      const Index at = tap * axis.out + k;
      sum += std::abs(axis.share.type() == Type::float64
                          ? axis.share.data<double>()[at]
                          : static_cast<double>(axis.share.data<float>()[at]));
    }
    largest = std::max(largest, sum);
  }
  return largest;
}

bool are_at_most(const Tensor& values, double limit) {
  bool are = true;
  with_number(values.type(), [&]<class T>() {
    const T* const first = values.data<T>();
    are = std::all_of(first, first + values.size(),
                      [=](const T& x) { return std::abs(widened<double>(x)) <= limit; });
  });
  return are;
}

// True if a sum along one axis overflowed that a sum over all of them may not: weights below zero
// take infinities from each other, and from numbers. Reads the smaller of the image and the output.
bool overflows_between(const ResampledAxes& axes, const Tensor& x, const Tensor& y) {
  const std::vector<Index> order = order_of(axes.axes);
  double reach = 1;
  for (const Index d : order) reach *= reach_of(axes.axes[static_cast<std::size_t>(d)]);
  if (order.size() < 2 || reach < 1.00001) return false;  // no weight is far below zero
  const double largest = x.type() == Type::float64
                             ? std::numeric_limits<double>::max()
                             : static_cast<double>(std::numeric_limits<float>::max());
  if (x.size() < y.size() && are_at_most(x, largest / 2 / reach)) return false;
  return !are_at_most(y, largest) && are_at_most(x, largest);
}

class Resample : public TensorStep {
 public:
  Resample(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : TensorStep(graph, node, std::move(buffers)) {
    kernel = "resample " + std::string(name(chosen_isa()));
    kernel_class = KernelClass::resample;
  }

  void run(RunState& state) override {
    const std::optional<ResampledAxes> axes = planned(state);
    if (!axes || axes->axes.empty()) return run_on_reference(state);
    const Tensor& x = input(state, 0);
    const bool in_order = !axes->nearest && facts(x.type()).is_integer;
    if (in_order && !has_few_taps(axes->axes)) return run_on_reference(state);
    Tensor& y = output(state, 0, x.type(), axes->shape);
    if (axes->nearest) {
      pick_all(state, x, y, *axes);
    } else if (x.type() == Type::float64) {
      sum_all<double>(state, x, y, *axes);
    } else if (in_order) {
      sum_integers(state, x, y, *axes);
    } else {
      sum_all<float>(state, x, y, *axes);
    }
    if (!axes->nearest && !in_order && overflows_between(*axes, x, y))
      return run_on_reference(state);
    extrapolate(y, *axes);
  }

 private:
  std::optional<ResampledAxes> planned(RunState& state) const {
    std::vector<Value> inputs;
    for (std::size_t k = 0; k < fact().inputs.size(); ++k)
      inputs.push_back(has_input(k) ? Value(input(state, k)) : Value());
    const Call call = call_of(node(), std::move(inputs));
    const Type type = input(state, 0).type();
    try {
      return resampled_axes(facts_of(call), type == Type::float64 ? type : Type::float32);
    } catch (const Error&) {
      return std::nullopt;  // the reference raises it with the node's place
    }
  }

  void pick_all(RunState& state, const Tensor& x, Tensor& y, const ResampledAxes& axes) {
    const Index bytes = facts(x.type()).bits / 8;
    Tensor now = x;
    Shape shape = x.shape();
    const std::vector<Index> order = order_of(axes.axes);
    const Index rank = shape.size();
    const auto is_of_image = [&](Index d) { return d >= rank - 2; };
    if (order.size() == 2 && std::all_of(order.begin(), order.end(), is_of_image)) {
      return pick_images(state, x.bytes().data(), y.bytes().data(), *(axes.axes.end() - 2),
                         axes.axes.back(), count(head(shape, rank - 2)), bytes);
    }
    for (std::size_t k = 0; k < order.size(); ++k) {
      const ResampledAxis& axis = axes.axes[static_cast<std::size_t>(order[k])];
      const AxisExtents extents = around(shape, order[k]);
      shape[order[k]] = axis.out;
      const bool last = k + 1 == order.size();
      Tensor made = last ? Tensor() : Tensor(x.type(), shape);
      pick_along(state, now.bytes().data(), last ? y.bytes().data() : made.bytes().data(), axis,
                 extents, bytes);
      now = std::move(made);
    }
    if (order.empty()) std::memcpy(y.bytes().data(), x.bytes().data(), x.bytes().size());
  }

  template <class Q>
  void sum_all(RunState& state, const Tensor& x, Tensor& y, const ResampledAxes& axes) {
    const bool wide = x.type() == type_of<Q>;
    Tensor now = wide ? x : Tensor(type_of<Q>, x.shape());
    if (!wide) {
      with_number(x.type(), [&]<class T>() {
        const T* const from = x.data<T>();
        Q* const to = now.data<Q>();
        split_grid(state, 1, x.size(), 1, [&](Index, Index, Index first, Index n) {
          for (Index k = first; k < first + n; ++k) to[k] = widened<Q>(from[k]);
        });
      });
    }
    Shape shape = x.shape();
    const std::vector<Index> order = order_of(axes.axes);
    for (std::size_t k = 0; k < order.size(); ++k) {
      const ResampledAxis& axis = axes.axes[static_cast<std::size_t>(order[k])];
      const AxisExtents extents = around(shape, order[k]);
      shape[order[k]] = axis.out;
      const bool last = wide && k + 1 == order.size();
      Tensor made = last ? Tensor() : Tensor(type_of<Q>, shape);
      sum<Q>(state, now.data<Q>(), last ? y.data<Q>() : made.data<Q>(), axis, extents);
      now = std::move(made);
    }
    if (wide) {
      if (order.empty()) std::memcpy(y.bytes().data(), x.bytes().data(), x.bytes().size());
      return;
    }
    with_number(x.type(), [&]<class T>() {
      const Q* const from = now.data<Q>();
      T* const to = y.data<T>();
      split_grid(state, 1, y.size(), 1, [&](Index, Index, Index first, Index n) {
        for (Index k = first; k < first + n; ++k) to[k] = narrowed<T>(from[k]);
      });
    });
  }

  static void sum_integers(RunState& state, const Tensor& x, Tensor& y, const ResampledAxes& axes) {
    const Index columns = y.shape().back(), rows = y.size() / columns;
    const IndexVector strides = dense_strides(x.shape());
    Tensor sums(Type::float32, Shape{state.pool.size(), columns});
    const Index parts = std::min(rows, parts_for(state.pool.size()));
    const Index some = (rows + parts - 1) / parts;
    with_number(x.type(), [&]<class T>() {
      if constexpr (std::is_integral_v<T>) {
        state.each(parts, static_cast<double>(y.size()) * 4, [&](Index part, Index thread) {
          float* const row_sums = sums.data<float>() + thread * columns;
          const Index end = std::min((part + 1) * some, rows);
          for (Index row = part * some; row < end; ++row) {
            sum_row(x.data<T>(), axes.axes, strides, row, row_sums);
            T* const to = y.data<T>() + row * columns;
            for (Index k = 0; k < columns; ++k) to[k] = narrowed<T>(row_sums[k]);
          }
        });
      }
    });
  }

  // Overwrites what lies outside of the image along any axis.
  static void extrapolate(Tensor& y, const ResampledAxes& axes) {
    with_number(y.type(), [&]<class T>() {
      T* const to = y.data<T>();
      const T value = extrapolated<T>(axes);
      for (Index d = 0; d < y.shape().size(); ++d) {
        const Tensor& beyond = axes.axes[static_cast<std::size_t>(d)].beyond;
        const AxisExtents extents = around(y.shape(), d);
        const Index size = y.shape()[d];
        for (Index k = 0; k < (beyond.size() > 0 ? extents.outer * size : 0); ++k) {
          if (beyond.data<bool>()[k % size])
            std::fill_n(to + k * extents.inner, extents.inner, value);
        }
      }
    });
  }
};

bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const std::string_view op = fact.node->signature->op;
  if (fact.node->signature->domain != "" || (op != "Resize" && op != "Upsample")) return false;
  const AnalyzedValue& x = graph.value(fact.inputs[0]);
  if (!x.type || x.type->kind != ValueType::Kind::tensor) return false;
  if (is_number(x.type->element)) return !repeats(graph, node);
  const Type type = x.type->element;
  return fact.attributes().text("mode", "nearest") == "nearest" &&
         (type == Type::boolean || type == Type::complex64 || type == Type::complex128);
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  return std::make_unique<Resample>(graph, node, std::move(buffers));
}

}  // namespace

const KernelFamily resample_family{"resample", KernelClass::resample, takes, step};

}  // namespace touchstone::optimized
