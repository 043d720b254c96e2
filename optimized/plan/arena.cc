// Places buffers in an arena, greedily by size: fast, and within a few percent of the optimum for
// the lifetimes of networks.
#include "optimized/plan/arena.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "core/budget_watch.h"
#include "core/checked.h"

namespace touchstone::optimized {
namespace {

// Spans indexed by lifetime in a segment tree over the steps. A query costs its results plus the
// logarithm of the number of steps; a scan of all spans would make planning quadratic in long
// chains.
class Lifetimes {
 public:
  explicit Lifetimes(Index steps) {
    while (leaves_ < steps) leaves_ *= 2;
    charge_ = Charge(2 * leaves_ * static_cast<Index>(sizeof(List)));
    covering_.resize(static_cast<std::size_t>(2 * leaves_));
  }

  void add(const Span& span) {
    by_first_.emplace(span.first, &span);
    Index low = span.first + leaves_, high = span.last + leaves_ + 1;
    for (; low < high; low /= 2, high /= 2) {
      if (low % 2 == 1) at(low++).push_back(&span);
      if (high % 2 == 1) at(--high).push_back(&span);
    }
  }

  // Finds the spans whose lifetimes overlap: those alive at its first step, and those that start
  // later within it.
  void find(const Span& span, std::vector<const Span*>& found) {
    for (Index k = span.first + leaves_; k > 0; k /= 2)
      found.insert(found.end(), at(k).begin(), at(k).end());
    for (auto next = by_first_.upper_bound(span.first);
         next != by_first_.end() && next->first <= span.last; ++next)
      found.push_back(next->second);
  }

 private:
  using List = std::vector<const Span*>;
  List& at(Index k) { return covering_[static_cast<std::size_t>(k)]; }

  Index leaves_ = 1;
  Charge charge_;
  std::vector<List> covering_;  // node k of the tree covers nodes 2 k and 2 k + 1
  std::multimap<Index, const Span*> by_first_;
};

}  // namespace

Index place_spans(std::vector<Span>& spans) {
  std::vector<std::size_t> order(spans.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return spans[a].bytes > spans[b].bytes; });
  const auto length = [](const Span& span) {
    return ((Checked(span.bytes) + 63).value() / 64) * 64;
  };
  Index steps = 0;
  for (const Span& span : spans) steps = std::max(steps, span.last + 1);
  Lifetimes placed(steps);
  BudgetWatch watch;
  Index whole = 0;
  std::vector<const Span*> beside;
  for (const std::size_t k : order) {
    Span& span = spans[k];
    span.offset = 0;
    if (span.first <= span.last) {  // else no step uses it
      beside.clear();
      placed.find(span, beside);
      std::ranges::sort(beside, {}, &Span::offset);
      for (const Span* other : beside) {
        if (span.offset + length(span) <= other->offset) break;
        span.offset = std::max(span.offset, other->offset + length(*other));
      }
      placed.add(span);
    }
    whole = std::max(whole, (Checked(span.offset) + length(span)).value());
    watch.step();
  }
  return whole;
}

}  // namespace touchstone::optimized
