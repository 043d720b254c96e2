// ScatterElements, ScatterND and GatherND: elements or slices at fed indices.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <type_traits>

#include "core/checked.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/moves.h"
#include "optimized/plan/groups.h"
#include "reference/kernel.h"

namespace touchstone::optimized {
namespace {

enum class Reduction { none, add, mul, max, min };

std::optional<Reduction> reduction_of(const Facts& facts) {
  const std::string text = facts.text("reduction", "none");
  if (text == "none") return Reduction::none;
  if (text == "add") return Reduction::add;
  if (text == "mul") return Reduction::mul;
  if (facts.signature().since < 18) return std::nullopt;
  if (text == "max") return Reduction::max;
  if (text == "min") return Reduction::min;
  return std::nullopt;
}

template <class T>
bool is_nan_of(T x) {
  return x != x;
}

template <class T>
struct Combine {
  template <Reduction reduction>
  static void apply(T& slot, T value) {
    if constexpr (reduction == Reduction::none) {
      slot = value;
    } else if constexpr (reduction == Reduction::max) {
      if (slot < value || is_nan_of(value)) slot = value;
    } else if constexpr (reduction == Reduction::min) {
      if (value < slot || is_nan_of(value)) slot = value;
    } else if constexpr (std::is_integral_v<T>) {
      const auto a = static_cast<std::make_unsigned_t<T>>(slot);
      const auto b = static_cast<std::make_unsigned_t<T>>(value);
      slot = static_cast<T>(reduction == Reduction::add ? a + b : a * b);  // wraps round
    } else {
      slot = reduction == Reduction::add ? slot + value : slot * value;
    }
  }
};

// Calls take<T, reduction>() with a type of the elements' size, or the type itself if elements are
// combined. Returns false if only the reference combines them.
template <class F>
bool with_elements(Type type, Reduction reduction, F take) {
  if (reduction == Reduction::none) {
    if (!is_movable(type)) return false;
    with_sized(type, [&]<class T>() { take.template operator()<T, Reduction::none>(); });
    return true;
  }
  const auto combined = [&]<class T>() {
    if (type != type_of<T>) return false;
    if (reduction == Reduction::add) take.template operator()<T, Reduction::add>();
    if (reduction == Reduction::mul) take.template operator()<T, Reduction::mul>();
    if (reduction == Reduction::max) take.template operator()<T, Reduction::max>();
    if (reduction == Reduction::min) take.template operator()<T, Reduction::min>();
    return true;
  };
  return combined.template operator()<float>() || combined.template operator()<double>() ||
         combined.template operator()<std::int32_t>() ||
         combined.template operator()<std::int64_t>();
}

// Offset in rows of a wrapped index; false if it is out of range.
inline bool wrapped(Index& at, Index extent) {
  if (at < 0) at += extent;
  return at >= 0 && at < extent;
}

template <class I>
bool all_inside(const Tensor& indices, Index extent) {
  const I* const first = indices.data<I>();
  return std::all_of(first, first + indices.size(), [&](I k) {
    Index at = k;
    return wrapped(at, extent);
  });
}

// Copies the elements, split among the threads.
void copy_all(RunState& state, const Tensor& from, Tensor& to) {
  const Index bytes = static_cast<Index>(from.bytes().size()), parts = state.pool.size();
  const Index some = (bytes + parts - 1) / parts;
  state.each(parts, static_cast<double>(bytes) * nanoseconds_an_element / 4, [&](Index k, Index) {
    const Index first = std::min(k * some, bytes), n = std::min(some, bytes - first);
    if (n > 0)
      std::memcpy(to.bytes().data() + first, from.bytes().data() + first,
                  static_cast<std::size_t>(n));
  });
}

class Placed : public TensorStep {
 public:
  Placed(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers, std::string name)
      : TensorStep(graph, node, std::move(buffers)) {
    kernel = std::move(name);
    kernel_class = KernelClass::copy;
  }
};

class ScatterElements : public Placed {
 public:
  using Placed::Placed;
  void run(RunState& state) override {
    const Tensor &data = input(state, 0), &indices = input(state, 1), &updates = input(state, 2);
    const Facts given = fact().attributes();
    const Index rank = data.shape().size();
    const Index said = given.integer("axis"), axis = said < 0 ? add(said, rank) : said;
    const std::optional<Reduction> reduction = reduction_of(given);
    if (!reduction || !fits(data, indices, updates, axis)) return run_on_reference(state);
    const bool wide = indices.type() == Type::int64;
    const Index extent = data.shape()[axis];
    if (!(wide ? all_inside<std::int64_t>(indices, extent)
               : all_inside<std::int32_t>(indices, extent)))
      return run_on_reference(state);
    const bool computed = with_elements(data.type(), *reduction, [&]<class T, Reduction how>() {
      Tensor& made = output(state, 0, data.type(), data.shape());
      copy_all(state, data, made);
      if (indices.size() == 0) return;
      wide ? place<T, how, std::int64_t>(state, made, indices, updates, axis)
           : place<T, how, std::int32_t>(state, made, indices, updates, axis);
    });
    if (!computed) run_on_reference(state);
  }

 private:
  static bool fits(const Tensor& data, const Tensor& indices, const Tensor& updates, Index axis) {
    const Shape &x = data.shape(), &u = indices.shape();
    if (data.type() != updates.type() || u != updates.shape() || u.size() != x.size()) return false;
    if (indices.type() != Type::int64 && indices.type() != Type::int32) return false;
    if (axis < 0 || axis >= x.size()) return false;
    for (Index d = 0; d < x.size(); ++d) {
      if (d != axis && u[d] > x[d]) return false;
    }
    return true;
  }

  // Updates of one element differ along the axis alone, so the dimensions before it are divided
  // among the threads.
  template <class T, Reduction how, class I>
  static void place(RunState& state, Tensor& made, const Tensor& indices, const Tensor& updates,
                    Index axis) {
    const Shape& u = indices.shape();
    const IndexVector strides = dense_strides(made.shape());
    const Index rank = u.size(), last = rank - 1, columns = u[last];
    const Index rows = indices.size() / columns, step = strides[axis], extent = made.shape()[axis];
    const Index outer = axis == last ? rows : count(head(u, axis));
    const Index parts = std::min(outer, parts_for(state.pool.size()));
    const Index some = (outer + parts - 1) / parts, inner = rows / outer;
    const double work = static_cast<double>(indices.size()) * 4 * nanoseconds_an_element;
    state.each(parts, work, [&](Index part, Index) {
      const Index first = std::min(part * some, outer) * inner;
      const Index end = std::min((part + 1) * some, outer) * inner;
      for (Index row = first; row < end; ++row) {
        Index rest = row, base = 0;
        for (Index d = last - 1; d >= 0; rest /= u[d], --d) {
          if (d != axis) base += rest % u[d] * strides[d];
        }
        const I* const index = indices.data<I>() + row * columns;
        const T* const from = updates.data<T>() + row * columns;
        T* const to = made.data<T>() + base;
        const Index next = axis == last ? 0 : 1;
        for (Index k = 0; k < columns; ++k) {
          const Index at = index[k] < 0 ? index[k] + extent : Index{index[k]};
          Combine<T>::template apply<how>(to[at * step + k * next], from[k]);
        }
      }
    });
  }
};

// Slices that rows of indices address: `n` items a row, from dimension `from` of the data on.
struct Slices {
  Index rows = 0, n = 0, length = 0;
  std::vector<Index> strides, extents;

  Slices(const Shape& data, const Shape& indices, Index from) {
    n = indices.back();
    rows = count(head(indices, indices.size() - 1));
    length = count(tail(data, from + n));
    const IndexVector all = dense_strides(data);
    for (Index m = 0; m < n; ++m) {
      strides.push_back(all[from + m]);
      extents.push_back(data[from + m]);
    }
  }
  // Returns the first element of a slice, -1 if an index is out of range.
  Index offset(const std::int64_t* row) const {
    Index made = 0;
    for (std::size_t m = 0; m < strides.size(); ++m) {
      Index at = row[m];
      if (!wrapped(at, extents[m])) return -1;
      made += at * strides[m];
    }
    return made;
  }
  bool all_inside(const Tensor& indices) const {
    for (Index row = 0; row < rows; ++row) {
      if (offset(indices.data<std::int64_t>() + row * n) < 0) return false;
    }
    return true;
  }
};

class ScatterND : public Placed {
 public:
  using Placed::Placed;
  void run(RunState& state) override {
    const Tensor &data = input(state, 0), &indices = input(state, 1), &updates = input(state, 2);
    const std::optional<Reduction> reduction = reduction_of(fact().attributes());
    const Shape &x = data.shape(), &u = indices.shape();
    if (!reduction || data.type() != updates.type() || indices.type() != Type::int64 || x.empty() ||
        u.empty() || u.back() > x.size() ||
        updates.shape() != join(head(u, u.size() - 1), tail(x, u.back())))
      return run_on_reference(state);
    // Without updates no index is read, and rows of no indices may be too many to visit.
    std::optional<Slices> slices;
    if (updates.size() > 0) slices.emplace(x, u, 0);
    if (slices && !slices->all_inside(indices)) return run_on_reference(state);
    const bool computed = with_elements(data.type(), *reduction, [&]<class T, Reduction how>() {
      Tensor& made = output(state, 0, data.type(), x);
      copy_all(state, data, made);
      if (!slices) return;
      for (Index row = 0; row < slices->rows; ++row) {
        const T* const from = updates.data<T>() + row * slices->length;
        T* const to =
            made.data<T>() + slices->offset(indices.data<std::int64_t>() + row * slices->n);
        for (Index k = 0; k < slices->length; ++k) Combine<T>::template apply<how>(to[k], from[k]);
      }
    });
    if (!computed) run_on_reference(state);
  }
};

class GatherND : public Placed {
 public:
  using Placed::Placed;
  void run(RunState& state) override {
    const Tensor &data = input(state, 0), &indices = input(state, 1);
    const Shape &x = data.shape(), &u = indices.shape();
    const Index batch = fact().attributes().integer("batch_dims");
    const Index bits = data.type() == Type::string ? 0 : facts(data.type()).bits;
    if (bits < 8 || indices.type() != Type::int64 || batch < 0 || batch >= u.size() ||
        batch >= x.size() || head(x, batch) != head(u, batch) || u.back() < 1 ||
        u.back() > x.size() - batch)
      return run_on_reference(state);
    const Slices slices(x, u, batch);
    const Shape shape = join(head(u, u.size() - 1), tail(x, batch + slices.n));
    Tensor& made = output(state, 0, data.type(), shape);
    if (slices.rows == 0) return;
    const Index parts = std::min(slices.rows, parts_for(state.pool.size()));
    const Index some = ceil_div(slices.rows, parts);
    const Rows rows{slices, indices.data<std::int64_t>(), slices.rows / count(head(x, batch)),
                    data.size() / count(head(x, batch))};
    const std::byte* const from = data.bytes().data();
    std::byte* const to = made.bytes().data();
    const double work = static_cast<double>(made.size() + slices.rows * slices.n);
    std::atomic<bool> inside = true;
    state.each(parts, work * nanoseconds_an_element, [&](Index part, Index) {
      const Index first = std::min(part * some, slices.rows);
      const Index end = std::min(first + some, slices.rows);
      bool fine = true;
      if (slices.length == 1)
        with_sized_bytes(bits / 8, [&]<class T>() { fine = copy<T>(rows, first, end, from, to); });
      else
        fine = copy_slices(rows, first, end, slices.length * (bits / 8), bits / 8, from, to);
      if (!fine) inside = false;
    });
    if (!inside) run_on_reference(state);
  }

 private:
  struct Rows {
    const Slices& slices;
    const std::int64_t* indices;
    Index each, plane;  // rows and elements of a batch
  };
  // Calls take(row, element) for rows first .. end - 1; false if an index is out of range.
  template <class F>
  static bool each_row(const Rows& of, Index first, Index end, F take) {
    Index base = first / of.each * of.plane, left = of.each - first % of.each;
    for (Index row = first; row < end; ++row) {
      const Index at = of.slices.offset(of.indices + row * of.slices.n);
      if (at < 0) return false;
      take(row, base + at);
      if (--left == 0) left = of.each, base += of.plane;
    }
    return true;
  }
  template <class T>
  static bool copy(const Rows& of, Index first, Index end, const std::byte* from, std::byte* to) {
    const T* const x = reinterpret_cast<const T*>(from);
    T* const y = reinterpret_cast<T*>(to);
    return each_row(of, first, end, [&](Index row, Index at) { y[row] = x[at]; });
  }
  static bool copy_slices(const Rows& of, Index first, Index end, Index length, Index bytes,
                          const std::byte* from, std::byte* to) {
    return each_row(of, first, end, [&](Index row, Index at) {
      std::memcpy(to + row * length, from + at * bytes, static_cast<std::size_t>(length));
    });
  }
};

bool takes(const AnalyzedGraph& graph, Index node) {
  const Signature& signature = *graph.node(node).node->signature;
  const std::string_view op = signature.op;
  if (!signature.domain.empty()) return false;
  if (op != "ScatterElements" && op != "Scatter" && op != "ScatterND" && op != "GatherND")
    return false;
  return !is_data_movement(graph, node);
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  const std::string_view op = graph.node(node).node->signature->op;
  if (op == "GatherND")
    return std::make_unique<GatherND>(graph, node, std::move(buffers), "gather slices");
  if (op == "ScatterND")
    return std::make_unique<ScatterND>(graph, node, std::move(buffers), "scatter slices");
  return std::make_unique<ScatterElements>(graph, node, std::move(buffers), "scatter elements");
}

}  // namespace

const KernelFamily scatter_family{"scatter", KernelClass::copy, takes, step};

}  // namespace touchstone::optimized
