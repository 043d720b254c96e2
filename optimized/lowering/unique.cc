// Unique of all elements of a tensor of numbers: their ranks are sorted by radix, with the place of
// each.
#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <utility>

#include "core/budget.h"
#include "core/placement.h"
#include "optimized/lowering/elements.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/moves.h"
#include "optimized/lowering/ranks.h"

namespace touchstone {
namespace {

template <class Rank>
struct Keyed {
  Rank rank;
  std::uint32_t place;
};

// Sorts by rank; equal ones keep their order. `held` has as much memory as `all`.
template <class Rank>
void sort(std::span<Keyed<Rank>> all, std::span<Keyed<Rank>> held) {
  constexpr std::size_t few = 256;
  if (all.size() < few) {
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.rank < b.rank; });
    return;
  }
  constexpr int bits = 8, digits = 1 << bits;
  std::span<Keyed<Rank>> from = all, to = held;
  for (int shift = 0; shift < std::numeric_limits<Rank>::digits; shift += bits) {
    const auto digit = [shift](Rank rank) {
      return static_cast<std::size_t>(rank >> shift) & (digits - 1);
    };
    std::array<std::size_t, digits> ends{};
    for (const Keyed<Rank>& key : from) ++ends[digit(key.rank)];
    if (ends[digit(from[0].rank)] == from.size()) continue;
    std::size_t first = 0;
    for (std::size_t& end : ends) first += std::exchange(end, first);
    for (const Keyed<Rank>& key : from) to[ends[digit(key.rank)]++] = key;
    std::swap(from, to);
  }
  if (from.data() != all.data()) std::copy(from.begin(), from.end(), all.begin());
}

class Unique : public Moves {
 public:
  Unique(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : Moves(graph, node, std::move(buffers)) {
    kernel = "unique";
    kernel_class = KernelClass::copy;
  }

 private:
  bool moved(RunState& state) override {
    const Tensor& x = input(state, 0);
    constexpr Index most = std::numeric_limits<std::uint32_t>::max();
    const Index sorted = fact().attributes().integer("sorted", 1);
    if (x.size() >= most || x.size() == 0 || (sorted & ~1) != 0) return false;
    return for_number(x.type(), [&](auto zero) {
      compute<decltype(zero)>(state, x, sorted != 0);
      return true;
    });
  }

  // The places of the first of equal elements, in the order of the output, and a number for each
  // element: that of its group of equal ones.
  template <class T>
  void compute(RunState& state, const Tensor& x, bool sorted) {
    using Key = Keyed<decltype(rank_of(T{}))>;
    const T* const from = x.data<T>();
    const auto n = static_cast<std::size_t>(x.size());
    charge_scratch(multiply(x.size(), static_cast<Index>(2 * sizeof(Key) + 2 * sizeof(Index))));
    charge_work(x.size());
    std::vector<Key> keys(n), held(n);
    for (std::size_t k = 0; k < n; ++k) keys[k] = {rank_of(from[k]), static_cast<std::uint32_t>(k)};
    sort<decltype(Key::rank)>(keys, held);
    std::vector<Index> firsts, counts;
    for (std::size_t k = 0; k < n; ++k) {
      if (k == 0 || keys[k].rank != keys[k - 1].rank) {
        firsts.push_back(keys[k].place);
        counts.push_back(0);
      }
      ++counts.back();
    }
    // Numbers the groups in the order in which the elements come, unless they are sorted.
    const std::size_t groups = firsts.size();
    std::vector<Index> order(groups), numbers(groups);
    for (std::size_t g = 0; g < groups; ++g) order[g] = static_cast<Index>(g);
    if (!sorted) {
      std::sort(order.begin(), order.end(), [&](Index a, Index b) {
        return firsts[static_cast<std::size_t>(a)] < firsts[static_cast<std::size_t>(b)];
      });
    }
    for (std::size_t g = 0; g < groups; ++g)
      numbers[static_cast<std::size_t>(order[g])] = static_cast<Index>(g);
    const Shape shape{static_cast<Index>(groups)};
    T* const y = has_output(0) ? output(state, 0, x.type(), shape).template data<T>() : nullptr;
    std::int64_t *first = nullptr, *number = nullptr, *count = nullptr;
    if (has_output(1)) first = output(state, 1, Type::int64, shape).data<std::int64_t>();
    if (has_output(2)) number = output(state, 2, Type::int64, {x.size()}).data<std::int64_t>();
    if (has_output(3)) count = output(state, 3, Type::int64, shape).data<std::int64_t>();
    for (std::size_t g = 0; g < groups; ++g) {
      const auto group = static_cast<std::size_t>(order[g]);
      if (y != nullptr) y[g] = from[firsts[group]];
      if (first != nullptr) first[g] = firsts[group];
      if (count != nullptr) count[g] = counts[group];
    }
    std::size_t group = 0;
    for (std::size_t k = 0; number != nullptr && k < n; ++k) {
      if (k > 0 && keys[k].rank != keys[k - 1].rank) ++group;
      number[keys[k].place] = numbers[group];
    }
  }
};

bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature& signature = *fact.node->signature;
  return signature.domain.empty() && signature.op == "Unique" && !fact.attributes().given("axis") &&
         for_number(element_of(graph, node, 0), [](auto) { return true; });
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  return std::make_unique<Unique>(graph, node, std::move(buffers));
}

}  // namespace

const KernelFamily unique_family{"unique", KernelClass::copy, takes, step};

}  // namespace touchstone
