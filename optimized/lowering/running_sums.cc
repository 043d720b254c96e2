// Family `running sums`: CumSum and CumProd, each result from the one before it.
#include <algorithm>
#include <type_traits>

#include "optimized/lowering/families.h"
#include "optimized/lowering/moves.h"

namespace touchstone::optimized {
namespace {

constexpr double nanoseconds_a_sum = 1;

class RunningSums : public Moves {
 public:
  using Moves::Moves;

 private:
  bool moved(RunState& state) override {
    const Tensor& from = input(state, 0);
    const std::optional<IndexVector> named = list(state, 1);
    const Index rank = from.shape().size();
    if (!named || named->size() != 1) return false;
    const Index axis = wrap((*named)[0], rank);
    const Facts given = fact().attributes();
    const Index exclusive = given.integer("exclusive"), reverse = given.integer("reverse");
    if (axis < 0 || axis >= rank || (exclusive & ~1) != 0 || (reverse & ~1) != 0) return false;
    Tensor& made = output(state, 0, from.type(), from.shape());
    if (made.size() == 0) return true;
    // Integers wrap round.
    const bool wide = bytes_of(from.type()) == 8;
    const bool multiplies = given.signature().op == "CumProd";
    const auto go = [&]<class T>() {
      const Options options{axis, exclusive != 0, reverse != 0};
      if (multiplies)
        run_rows<T, Times>(state, from, made, options);
      else
        run_rows<T, Plus>(state, from, made, options);
    };
    if (facts(from.type()).is_float)
      wide ? go.template operator()<double>() : go.template operator()<float>();
    else
      wide ? go.template operator()<std::uint64_t>() : go.template operator()<std::uint32_t>();
    return true;
  }

  struct Options {
    Index axis;
    bool exclusive, reverse;
  };
  struct Plus {
    static constexpr int first = 0;
    template <class T>
    static T of(T a, T b) {
      return a + b;
    }
  };
  struct Times {
    static constexpr int first = 1;
    template <class T>
    static T of(T a, T b) {
      return a * b;
    }
  };

  // Divides the rows that are summed into blocks of neighbours.
  template <class T, class Op>
  static void run_rows(RunState& state, const Tensor& from, Tensor& to, const Options& options) {
    const Index axis = options.axis;
    const bool exclusive = options.exclusive, reverse = options.reverse;
    constexpr Index widest = 256;
    const Shape& shape = from.shape();
    const Index outer = count(head(shape, axis)), length = shape[axis];
    const Index inner = count(tail(shape, axis + 1)), blocks = ceil_div(inner, widest);
    const Index all = outer * blocks;
    const Index step = ceil_div(all, parts_for(state.pool.size()));
    const double cost = static_cast<double>(from.size()) * nanoseconds_a_sum;
    state.each(ceil_div(all, step), cost, [&](Index part, Index) {
      for (Index k = part * step; k < std::min((part + 1) * step, all); ++k) {
        const Index q = k % blocks * widest;
        const Index first = k / blocks * length * inner + q + (reverse ? (length - 1) * inner : 0);
        const T* const x = from.data<T>() + first;
        T* const y = to.data<T>() + first;
        const Index by = reverse ? -inner : inner;
        if (inner == 1)
          one_row<T, Op>(x, y, length, by, exclusive);
        else
          rows<T, Op>(x, y, length, by, std::min(widest, inner - q), exclusive);
      }
    });
  }

  template <class T, class Op>
  static void one_row(const T* x, T* y, Index length, Index by, bool exclusive) {
    T total = Op::first;
    for (Index k = 0; k < length; ++k) {
      const T next = Op::of(total, x[k * by]);
      y[k * by] = exclusive ? total : next;
      total = next;
    }
  }

  // Sums `width` rows side by side; `by`: distance of successive elements of a row.
  template <class T, class Op>
  static void rows(const T* x, T* y, Index length, Index by, Index width, bool exclusive) {
    for (Index q = 0; q < width; ++q) y[q] = exclusive ? T{Op::first} : Op::of(T{Op::first}, x[q]);
    for (Index k = 1; k < length; ++k) {
      const T* const before = y + (k - 1) * by;
      const T* const more = x + (exclusive ? k - 1 : k) * by;
      T* const next = y + k * by;
      for (Index q = 0; q < width; ++q) next[q] = Op::of(before[q], more[q]);
    }
  }
};

bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature& signature = *fact.node->signature;
  if (!signature.domain.empty() || (signature.op != "CumSum" && signature.op != "CumProd") ||
      fact.outputs.size() != 1 || fact.outputs[0] == no_value)
    return false;
  const Type axis = element_of(graph, node, 1);
  if (axis != Type::int64 && axis != Type::int32) return false;
  switch (element_of(graph, node, 0)) {
    case Type::float32:
    case Type::float64:
    case Type::int32:
    case Type::int64:
    case Type::uint32:
    case Type::uint64:
      return true;
    default:
      return false;
  }
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  auto made = std::make_unique<RunningSums>(graph, node, std::move(buffers));
  made->kernel = "running sums";
  made->kernel_class = KernelClass::pointwise;
  return made;
}

}  // namespace

const KernelFamily running_sums_family{"running sums", KernelClass::pointwise, takes, step};

}  // namespace touchstone::optimized
