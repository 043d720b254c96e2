// Unique of numbers. The ranks of all elements are sorted by radix, with the place of each; slices
// along an axis are compared by the ranks of their elements.
#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "core/budget.h"
#include "core/placement.h"
#include "optimized/lowering/elements.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/moves.h"
#include "optimized/lowering/ranks.h"
#include "reference/lists.h"

namespace touchstone::optimized {
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

// Elements or slices to compare: each of `count` has `length` elements.
struct Slices {
  Index outer = 1, count = 0, inner = 1;  // extents before, of and after the axis
  std::optional<Index> axis;
  Index length() const { return multiply(outer, inner); }
};

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
    Slices slices{.count = x.size()};
    if (fact().attributes().given("axis")) {
      const Index rank = x.shape().size(), given = fact().attributes().integer("axis", 0);
      if (given < -rank || given >= rank) return false;
      const Index axis = given < 0 ? given + rank : given;
      slices = {count(head(x.shape(), axis)), x.shape()[axis], count(tail(x.shape(), axis + 1)),
                axis};
    }
    return for_number(x.type(), [&](auto zero) {
      if (slices.axis)
        compare_slices<decltype(zero)>(state, x, slices, sorted != 0);
      else
        compare_elements<decltype(zero)>(state, x, slices, sorted != 0);
      return true;
    });
  }

  template <class T>
  void compare_elements(RunState& state, const Tensor& x, const Slices& slices, bool sorted) {
    using Key = Keyed<decltype(rank_of(T{}))>;
    const T* const from = x.data<T>();
    const auto n = static_cast<std::size_t>(x.size());
    charge_scratch(multiply(x.size(), static_cast<Index>(2 * sizeof(Key) + 2 * sizeof(Index))));
    charge_work(x.size());
    std::vector<Key> keys(n), held(n);
    for (std::size_t k = 0; k < n; ++k) keys[k] = {rank_of(from[k]), static_cast<std::uint32_t>(k)};
    sort<decltype(Key::rank)>(keys, held);
    write<T>(
        state, x, slices, sorted, [&](std::size_t k) { return keys[k].place; },
        [&](std::size_t k) { return keys[k].rank != keys[k - 1].rank; });
  }

  // Slices are ordered by their elements' ranks, in row-major order.
  template <class T>
  void compare_slices(RunState& state, const Tensor& x, const Slices& slices, bool sorted) {
    using Rank = decltype(rank_of(T{}));
    const T* const from = x.data<T>();
    const auto n = static_cast<std::size_t>(slices.count);
    const auto length = static_cast<std::size_t>(slices.length());
    charge_scratch(multiply(x.size(), static_cast<Index>(sizeof(Rank))));
    charge_scratch(multiply(slices.count, static_cast<Index>(3 * sizeof(Index))));
    charge_work(x.size());
    std::vector<Rank> ranks(static_cast<std::size_t>(x.size()));
    for (Index outer = 0; outer < slices.outer; ++outer) {
      for (Index k = 0; k < slices.count; ++k) {
        const T* const row = from + (outer * slices.count + k) * slices.inner;
        Rank* const to = ranks.data() + k * slices.length() + outer * slices.inner;
        for (Index i = 0; i < slices.inner; ++i) to[i] = rank_of(row[i]);
      }
    }
    constexpr Index few = 16;  // elements, whose comparison is charged with the sort
    charge_work(multiply(slices.count, std::bit_width(n)));
    std::vector<std::uint32_t> places(n);
    std::iota(places.begin(), places.end(), 0U);
    const auto slice = [&](std::uint32_t place) { return ranks.data() + place * length; };
    std::sort(places.begin(), places.end(), [&](std::uint32_t a, std::uint32_t b) {
      const auto [in_a, in_b] = std::mismatch(slice(a), slice(a) + length, slice(b));
      const bool same = in_a == slice(a) + length;
      if (in_a - slice(a) > few) charge_work(in_a - slice(a));
      return same ? a < b : *in_a < *in_b;
    });
    write<T>(
        state, x, slices, sorted, [&](std::size_t k) { return places[k]; },
        [&](std::size_t k) {
          return !std::equal(slice(places[k]), slice(places[k]) + length, slice(places[k - 1]));
        });
  }

  // `place` of each slice in order, equal ones as they come; `opens`: differs from the one before.
  template <class T, class Place, class Opens>
  void write(RunState& state, const Tensor& x, const Slices& slices, bool sorted, Place place,
             Opens opens) {
    const auto n = static_cast<std::size_t>(slices.count);
    std::vector<Index> firsts, counts;
    std::vector<std::uint32_t> group_of(has_output(2) ? n : 0);
    for (std::size_t k = 0; k < n; ++k) {
      if (k == 0 || opens(k)) {
        firsts.push_back(place(k));
        counts.push_back(0);
      }
      ++counts.back();
      if (!group_of.empty()) group_of[place(k)] = static_cast<std::uint32_t>(firsts.size() - 1);
    }
    // Numbers the groups in the order in which the slices come, unless they are sorted.
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
    Shape made = slices.axis ? x.shape() : shape;
    if (slices.axis) made[*slices.axis] = shape[0];
    T* const y = has_output(0) ? output(state, 0, x.type(), made).template data<T>() : nullptr;
    std::int64_t *first = nullptr, *number = nullptr, *count = nullptr;
    if (has_output(1)) first = output(state, 1, Type::int64, shape).data<std::int64_t>();
    if (has_output(2)) number = output(state, 2, Type::int64, {slices.count}).data<std::int64_t>();
    if (has_output(3)) count = output(state, 3, Type::int64, shape).data<std::int64_t>();
    const T* const from = x.data<T>();
    for (std::size_t g = 0; g < groups; ++g) {
      const auto group = static_cast<std::size_t>(order[g]);
      if (first != nullptr) first[g] = firsts[group];
      if (count != nullptr) count[g] = counts[group];
      for (Index outer = 0; y != nullptr && outer < slices.outer; ++outer)
        std::copy_n(from + (outer * slices.count + firsts[group]) * slices.inner, slices.inner,
                    y + (outer * shape[0] + static_cast<Index>(g)) * slices.inner);
    }
    for (std::size_t k = 0; k < group_of.size(); ++k) number[k] = numbers[group_of[k]];
  }
};

bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature& signature = *fact.node->signature;
  return signature.domain.empty() && signature.op == "Unique" &&
         for_number(element_of(graph, node, 0), [](auto) { return true; });
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  return std::make_unique<Unique>(graph, node, std::move(buffers));
}

}  // namespace

const KernelFamily unique_family{"unique", KernelClass::copy, takes, step};

}  // namespace touchstone::optimized
