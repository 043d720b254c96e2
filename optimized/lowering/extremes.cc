// Family `extremes`: ArgMax, ArgMin and Hardmax of floats and integers.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "optimized/lowering/families.h"
#include "optimized/lowering/moves.h"

namespace touchstone::optimized {
namespace {

constexpr double nanoseconds_a_term = 0.5;
constexpr Index widest = 256;  // rows that are searched side by side

// Keys whose largest is looked for: the elements or what orders them in reverse.
template <class T>
struct Keys {
  using Key = T;
  T factor;
  T of(T x) const { return x * factor; }
};
template <class T>
requires std::is_unsigned_v<T>
struct Keys<T> {
  using Key = std::make_signed_t<T>;
  T flipped;  // bits: the top one of an unsigned type, all to reverse the order
  Key of(T x) const { return static_cast<Key>(x ^ flipped); }
};

template <class T>
Keys<T> keys_of(Type type, bool largest) {
  if constexpr (std::is_floating_point_v<T>) {
    return {T(largest ? 1 : -1)};
  } else {
    const T top = static_cast<T>(T{1} << (8 * sizeof(T) - 1));
    const T order = facts(type).is_signed ? T{0} : top;
    return {static_cast<T>(largest ? order : ~order)};
  }
}

// Returns the first or last position of the largest of n > 0 contiguous elements; NaN is larger
// than any number.
template <class T>
Index position_of(const T* x, Index n, Keys<T> keys, bool last) {
  using Key = typename Keys<T>::Key;
  constexpr Index side = 16;
  std::array<Key, side> most;
  most.fill(keys.of(x[0]));
  bool any_nan = false;
  Index k = 0;
  for (; k + side <= n; k += side) {
    for (Index j = 0; j < side; ++j) {
      const Key key = keys.of(x[k + j]);
      Key& one = most[static_cast<std::size_t>(j)];
      one = one < key ? key : one;
      any_nan |= key != key;
    }
  }
  for (; k < n; ++k) {
    const Key key = keys.of(x[k]);
    most[0] = most[0] < key ? key : most[0];
    any_nan |= key != key;
  }
  const Key best = *std::max_element(most.begin(), most.end());
  const auto is = [&](T element) {
    const Key key = keys.of(element);
    return any_nan ? key != key : key == best;
  };
  if (!last) return std::find_if(x, x + n, is) - x;
  Index at = n - 1;
  while (!is(x[at])) --at;
  return at;
}

// Finds the positions of `width` columns of n elements; `by`: distance of successive ones.
template <class T>
void positions_of(const T* x, Index n, Index by, Index width, Keys<T> keys, bool last,
                  Index* found) {
  using Key = typename Keys<T>::Key;
  std::array<Key, widest> best;
  std::array<std::int32_t, widest> at;
  const Index start = last ? n - 1 : 0;
  for (Index q = 0; q < width; ++q) {
    best[static_cast<std::size_t>(q)] = keys.of(x[start * by + q]);
    at[static_cast<std::size_t>(q)] = static_cast<std::int32_t>(start);
  }
  for (Index step = 1; step < n; ++step) {
    const auto k = static_cast<std::int32_t>(last ? n - 1 - step : step);
    const T* const row = x + k * by;
    for (Index q = 0; q < width; ++q) {
      const auto column = static_cast<std::size_t>(q);
      const Key key = keys.of(row[q]), other = best[column];
      const bool better = (other < key) | ((key != key) & (other == other));
      best[column] = better ? key : other;
      at[column] = better ? k : at[column];
    }
  }
  std::copy_n(at.begin(), width, found);
}

// Calls f<T>() with the float type, or an unsigned integer of as many bytes.
template <class F>
void with_keys(Type type, F f) {
  if (type == Type::float32) return f.template operator()<float>();
  if (type == Type::float64) return f.template operator()<double>();
  with_sized(type, [&]<class T>() {
    if constexpr (std::is_integral_v<T>) f.template operator()<T>();
  });
}

class Extremes : public Moves {
 protected:
  using Moves::Moves;

  // A tensor of outer * n * inner elements, searched along n.
  struct Box {
    Index outer, n, inner;
  };

  // Calls take(outer, first inner, positions of `width` columns) for all columns.
  template <class F>
  void search(RunState& state, const Tensor& from, const Box& box, bool largest, bool last,
              F take) const {
    const Index blocks = ceil_div(box.inner, widest), all = box.outer * blocks;
    const Index step = ceil_div(all, parts_for(state.pool.size()));
    const double cost = static_cast<double>(from.size()) * nanoseconds_a_term;
    with_keys(from.type(), [&]<class T>() {
      const Keys<T> keys = keys_of<T>(from.type(), largest);
      state.each(ceil_div(all, step), cost, [&](Index part, Index) {
        std::array<Index, widest> found;
        for (Index k = part * step; k < std::min((part + 1) * step, all); ++k) {
          const Index outer = k / blocks, q = k % blocks * widest;
          const Index width = std::min(widest, box.inner - q);
          const T* const x = from.data<T>() + outer * box.n * box.inner + q;
          if (box.inner == 1)
            found[0] = position_of(x, box.n, keys, last);
          else
            positions_of(x, box.n, box.inner, width, keys, last, found.data());
          take(outer, q, width, found.data());
        }
      });
    });
  }
};

class Arg : public Extremes {
 public:
  using Extremes::Extremes;

 private:
  bool moved(RunState& state) override {
    const Tensor& from = input(state, 0);
    const Shape& shape = from.shape();
    const Facts given = fact().attributes();
    const Index rank = shape.size(), axis = wrap(given.integer("axis"), rank);
    const bool keeps = given.integer("keepdims", 1) != 0;
    if (axis < 0 || axis >= rank) return false;
    const Box box{count(head(shape, axis)), shape[axis], count(tail(shape, axis + 1))};
    if (box.n == 0 || box.n > std::numeric_limits<std::int32_t>::max()) return false;
    const IndexVector kept = keeps ? IndexVector{1} : IndexVector{};
    Tensor& made =
        output(state, 0, Type::int64, join(head(shape, axis), kept, tail(shape, axis + 1)));
    if (made.size() == 0) return true;
    std::int64_t* const to = made.data<std::int64_t>();
    search(state, from, box, given.signature().op == "ArgMax",
           given.integer("select_last_index") != 0,
           [&](Index outer, Index q, Index width, const Index* found) {
             std::copy_n(found, width, to + outer * box.inner + q);
           });
    return true;
  }
};

class Hardmax : public Extremes {
 public:
  using Extremes::Extremes;

 private:
  static constexpr int by_axis = 13;  // earlier versions flatten what follows the axis

  bool moved(RunState& state) override {
    const Tensor& from = input(state, 0);
    const Shape& shape = from.shape();
    const Facts given = fact().attributes();
    const bool flat = given.signature().since < by_axis;
    const Index rank = shape.size(), axis = wrap(given.integer("axis", flat ? 1 : -1), rank);
    if (axis < 0 || axis >= rank) return false;
    const Index inner = flat ? 1 : count(tail(shape, axis + 1));
    const Box box{count(head(shape, axis)), flat ? count(tail(shape, axis)) : shape[axis], inner};
    if (box.n > std::numeric_limits<std::int32_t>::max()) return false;
    Tensor& made = output(state, 0, from.type(), shape);
    if (made.size() == 0) return true;
    std::fill(made.bytes().begin(), made.bytes().end(), std::byte{0});
    if (from.type() == Type::float32)
      mark<float>(state, from, box, made);
    else
      mark<double>(state, from, box, made);
    return true;
  }

  template <class T>
  void mark(RunState& state, const Tensor& from, const Box& box, Tensor& made) const {
    T* const to = made.data<T>();
    search(state, from, box, true, false,
           [&](Index outer, Index q, Index width, const Index* found) {
             for (Index k = 0; k < width; ++k)
               to[(outer * box.n + found[k]) * box.inner + q + k] = 1;
           });
  }
};

bool is_hardmax(const AnalyzedGraph& graph, Index node) {
  return graph.node(node).node->signature->op == "Hardmax";
}

bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature& signature = *fact.node->signature;
  if (!signature.domain.empty() || fact.outputs.size() != 1 || fact.outputs[0] == no_value)
    return false;
  const Type type = element_of(graph, node, 0);
  const bool real = type == Type::float32 || type == Type::float64;
  if (signature.op == "Hardmax") return real;
  if (signature.op != "ArgMax" && signature.op != "ArgMin") return false;
  return real || (is_movable(type) && facts(type).is_integer);
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  std::unique_ptr<Step> made;
  if (is_hardmax(graph, node))
    made = std::make_unique<Hardmax>(graph, node, std::move(buffers));
  else
    made = std::make_unique<Arg>(graph, node, std::move(buffers));
  made->kernel = "extremes " + std::string(graph.node(node).node->signature->op);
  made->kernel_class = KernelClass::reduce;
  return made;
}

}  // namespace

const KernelFamily extremes_family{"extremes", KernelClass::reduce, takes, step};

}  // namespace touchstone::optimized
