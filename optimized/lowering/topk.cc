// TopK: each lane's elements are ranked by integers, of which the first are selected.
#include <algorithm>
#include <type_traits>

#include "optimized/lowering/families.h"
#include "optimized/lowering/ranks.h"
#include "reference/lists.h"

namespace touchstone::optimized {
namespace {

constexpr Index longest_lane = Index{1} << 31;

// An element of a lane: the first of a sorted lane ranks first, ties by place.
template <class Bits>
struct Ranked {
  Bits rank;
  std::uint32_t place;
  friend bool operator<(const Ranked& a, const Ranked& b) {
    return a.rank != b.rank ? a.rank < b.rank : a.place < b.place;
  }
};
// Rank and place in one integer.
template <>
struct Ranked<std::uint32_t> {
  std::uint64_t both;
  Ranked() = default;
  Ranked(std::uint32_t rank, std::uint32_t place) : both(std::uint64_t{rank} << 32 | place) {}
  friend bool operator<(const Ranked& a, const Ranked& b) { return a.both < b.both; }
};
std::uint32_t place_of(const Ranked<std::uint32_t>& x) {
  return static_cast<std::uint32_t>(x.both);
}
std::uint32_t place_of(const Ranked<std::uint64_t>& x) { return x.place; }

// True if none of `some` elements can rank before the limit; never for NaN.
constexpr Index some = 16;
template <class T>
bool are_worse(const T* from, T limit, bool largest) {
  bool worse = true;
  if (largest) {
    for (Index k = 0; k < some; ++k) worse &= from[k] < limit;
  } else {
    for (Index k = 0; k < some; ++k) worse &= from[k] > limit;
  }
  return worse;
}

// Puts an element into a sorted list of k, whose last one leaves it.
template <class R>
void insert(R* sorted, Index k, R one) {
  Index at = k - 1;
  for (; at > 0 && one < sorted[at - 1]; --at) sorted[at] = sorted[at - 1];
  sorted[at] = one;
}

// Sorts the first k of n elements: a few in a sorted list, more in a heap whose top ranks last;
// ranked(i) ranks an element.
constexpr Index most_in_list = 32;
template <class R, class T, class F>
void select_first(R* kept, const T* from, Index stride, Index n, Index k, bool largest, F ranked) {
  const bool few = k <= most_in_list;
  if (few) {
    for (Index i = 0; i < k; ++i) insert(kept, i + 1, ranked(i));
  } else {
    for (Index i = 0; i < k; ++i) kept[i] = ranked(i);
    std::make_heap(kept, kept + k);
  }
  const R& last = kept[few ? k - 1 : 0];
  const auto offer = [&](Index i) {
    const R one = ranked(i);
    if (!(one < last)) return;
    if (few) return insert(kept, k, one);
    std::pop_heap(kept, kept + k);
    kept[k - 1] = one;
    std::push_heap(kept, kept + k);
  };
  Index i = k;
  if constexpr (std::is_arithmetic_v<T>) {
    for (; stride == 1 && i + some <= n; i += some) {
      if (are_worse(from + i, from[place_of(last)], largest)) continue;
      for (Index j = 0; j < some; ++j) offer(i + j);
    }
  }
  for (; i < n; ++i) offer(i);
  if (!few) std::sort_heap(kept, kept + k);
}

template <class R>
void sort_first(R* lane, Index n, Index k) {
  if (k < n) std::nth_element(lane, lane + k, lane + n);
  std::sort(lane, lane + k);
}

class TopK : public TensorStep {
 public:
  TopK(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : TensorStep(graph, node, std::move(buffers)) {
    kernel = "top k";
    kernel_class = KernelClass::copy;
  }

  void run(RunState& state) override {
    const Tensor& x = input(state, 0);
    const bool known = run_on<float>(state, x) || run_on<double>(state, x) ||
                       run_on<Float16>(state, x) || run_on<BFloat16>(state, x) ||
                       run_on<std::int64_t>(state, x) || run_on<std::int32_t>(state, x) ||
                       run_on<std::int16_t>(state, x) || run_on<std::int8_t>(state, x) ||
                       run_on<std::uint64_t>(state, x) || run_on<std::uint32_t>(state, x) ||
                       run_on<std::uint16_t>(state, x) || run_on<std::uint8_t>(state, x);
    if (!known) run_on_reference(state);
  }

 private:
  // Returns -1 for a number that the reference refuses.
  Index wanted(const RunState& state, Index n) const {
    if (fact().inputs.size() < 2) {
      const Index k = fact().attributes().integer("k");
      return k > 0 && k <= n ? k : -1;
    }
    const Tensor& given = input(state, 1);
    if (given.type() != Type::int64 || given.shape() != Shape{1}) return -1;
    const Index k = *given.data<std::int64_t>();
    return k >= 0 && k <= n ? k : -1;
  }

  template <class T>
  bool run_on(RunState& state, const Tensor& x) {
    if (x.type() != type_of<T>) return false;
    const Facts given = fact().attributes();
    const Index rank = x.shape().size(), said = given.integer("axis", -1);
    if (said < -rank || said >= rank) return false;
    const Index axis = said < 0 ? said + rank : said, n = x.shape()[axis];
    const Index k = wanted(state, n);
    if (k < 0 || n >= longest_lane) return false;
    const Shape shape = replaced(x.shape(), axis, k);
    T* values = has_output(0) ? output(state, 0, x.type(), shape).template data<T>() : nullptr;
    std::int64_t* places =
        has_output(1) ? output(state, 1, Type::int64, shape).data<std::int64_t>() : nullptr;
    if (count(shape) == 0) return true;

    using Bits = decltype(rank_of(T{}));
    const Bits flip = given.integer("largest", 1) != 0 ? std::numeric_limits<Bits>::max() : Bits{0};
    const Index inner = count(tail(x.shape(), axis + 1)), lanes = x.size() / n;
    const Index parts = std::min(lanes, parts_for(state.pool.size()));
    const Index some = (lanes + parts - 1) / parts;
    constexpr Index words = sizeof(Ranked<Bits>) / sizeof(std::int64_t);
    const Index slots = std::min(parts, state.pool.size());
    Tensor scratch(Type::int64, Shape{slots, n, words});
    const double work = static_cast<double>(x.size()) * 2;
    state.each(parts, work, [&](Index part, Index thread) {
      const Index slot = slots == parts ? part : thread;
      auto* const lane = reinterpret_cast<Ranked<Bits>*>(scratch.data<std::int64_t>()) + slot * n;
      const Index end = std::min((part + 1) * some, lanes);
      for (Index at = part * some; at < end; ++at) {
        const T* const from = x.data<T>() + at / inner * n * inner + at % inner;
        const Index to = at / inner * k * inner + at % inner;
        const auto ranked = [&](Index i) {
          return Ranked<Bits>{static_cast<Bits>(rank_of(from[i * inner]) ^ flip),
                              static_cast<std::uint32_t>(i)};
        };
        if (k < n / (k <= most_in_list ? 4 : 16)) {
          select_first(lane, from, inner, n, k, flip != 0, ranked);
        } else {
          for (Index i = 0; i < n; ++i) lane[i] = ranked(i);
          sort_first(lane, n, k);
        }
        for (Index i = 0; i < k; ++i) {
          const Index place = place_of(lane[i]);
          if (values) values[to + i * inner] = from[place * inner];
          if (places) places[to + i * inner] = place;
        }
      }
    });
    return true;
  }
};

bool takes(const AnalyzedGraph& graph, Index node) {
  const Signature& signature = *graph.node(node).node->signature;
  return signature.domain.empty() && signature.op == "TopK";
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  return std::make_unique<TopK>(graph, node, std::move(buffers));
}

}  // namespace

const KernelFamily topk_family{"top k", KernelClass::copy, takes, step};

}  // namespace touchstone::optimized
