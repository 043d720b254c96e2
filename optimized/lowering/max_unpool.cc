// MaxUnpool: elements of any float type go back to the positions that they were pooled from.
#include <algorithm>
#include <atomic>

#include "core/budget.h"
#include "core/checked.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/moves.h"

namespace touchstone::optimized {
namespace {

constexpr double nanoseconds_an_index = 1;

class MaxUnpool : public Moves {
 public:
  using Moves::Moves;

 private:
  bool moved(RunState& state) override {
    const Tensor &x = input(state, 0), &at = input(state, 1);
    const std::optional<IndexVector> pooled = pooled_extents(x.shape());
    if (!pooled || at.shape() != x.shape()) return false;
    std::optional<IndexVector> extents = pooled;
    if (has_input(2)) extents = list(state, 2);
    if (!extents || extents->size() != pooled->size()) return false;
    bool wider = false;
    for (Index d = 0; d < pooled->size(); ++d) {
      if ((*extents)[d] < (*pooled)[d]) return false;
      wider = wider || (d > 0 && (*extents)[d] > (*pooled)[d]);
    }
    const auto* const places = at.data<std::int64_t>();
    if (!is_inside(state, places, at.size(), count(*pooled))) return false;
    Tensor& made = output(state, 0, x.type(), Shape(*extents));
    with_sized(x.type(), [&]<class T>() {
      zero(state, made.data<T>(), made.size());
      if (wider)
        put_wider(x.data<T>(), places, x.size(), *pooled, *extents, made.data<T>());
      else
        put(x.data<T>(), places, x.size(), count(*pooled), made.data<T>());
    });
    return true;
  }

  // Returns the extents of the tensor that was pooled, or nothing if the definition refuses X.
  std::optional<IndexVector> pooled_extents(const Shape& x) const {
    const Facts facts = fact().attributes();
    const IndexVector kernel = facts.integers("kernel_shape");
    const Index rank = x.size() - 2;
    if (rank < 1 || kernel.size() != rank) return std::nullopt;
    IndexVector strides = facts.integers("strides"), pads = facts.integers("pads");
    if (strides.empty()) strides = IndexVector(rank, 1);
    if (pads.empty()) pads = IndexVector(2 * rank, 0);
    if (strides.size() != rank || pads.size() != 2 * rank) return std::nullopt;
    IndexVector pooled(x.size(), 0);
    pooled[0] = x[0];
    pooled[1] = x[1];
    for (Index k = 0; k < rank; ++k) {
      if (kernel[k] <= 0 || strides[k] <= 0) return std::nullopt;
      const Index filled = add(multiply(x[k + 2] - 1, strides[k]), kernel[k]);
      pooled[k + 2] = subtract(subtract(filled, pads[k]), pads[rank + k]);
      if (pooled[k + 2] < 0) return std::nullopt;
    }
    return pooled;
  }

  static bool is_inside(RunState& state, const std::int64_t* at, Index all, Index extent) {
    std::atomic<bool> inside = true;
    in_ranges(state, all, nanoseconds_an_index, [&](Index first, Index end) {
      charge_work(end - first);
      bool fine = true;
      for (Index k = first; k < end; ++k) fine &= at[k] >= -extent && at[k] < extent;
      if (!fine) inside = false;
    });
    return inside;
  }

  template <class T>
  static void zero(RunState& state, T* to, Index all) {
    in_ranges(state, all, nanoseconds_an_element, [&](Index first, Index end) {
      charge_work((end - first) / 16);
      std::fill(to + first, to + end, T{0});
    });
  }

  // Writes in order, since of two elements with one position the later one stays.
  template <class T>
  static void put(const T* x, const std::int64_t* at, Index all, Index extent, T* to) {
    charge_work(all);
    for (Index k = 0; k < all; ++k) to[at[k] < 0 ? at[k] + extent : at[k]] = x[k];
  }

  // The same, where positions in the pooled tensor are a corner of a wider output.
  template <class T>
  static void put_wider(const T* x, const std::int64_t* at, Index all, const IndexVector& pooled,
                        const IndexVector& extents, T* to) {
    charge_work(multiply(all, pooled.size()));
    const IndexVector strides = dense_strides(Shape(extents));
    const Index whole = count(pooled);
    for (Index k = 0; k < all; ++k) {
      Index rest = at[k] < 0 ? at[k] + whole : at[k], place = 0;
      for (Index d = pooled.size() - 1; d >= 0; --d) {
        place += rest % pooled[d] * strides[d];
        rest /= pooled[d];
      }
      to[place] = x[k];
    }
  }
};

bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature& signature = *fact.node->signature;
  return signature.domain.empty() && signature.op == "MaxUnpool" && fact.outputs[0] != no_value &&
         is_movable(element_of(graph, node, 0)) && element_of(graph, node, 1) == Type::int64;
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  auto made = std::make_unique<MaxUnpool>(graph, node, std::move(buffers));
  made->kernel = "max unpool";
  made->kernel_class = KernelClass::copy;
  return made;
}

}  // namespace

const KernelFamily max_unpool_family{"max unpool", KernelClass::copy, takes, step};

}  // namespace touchstone::optimized
