// Greedy by size: within a few percent of the best for the lifetimes that networks have, and quick.
#include "optimized/plan/arena.h"

#include <algorithm>
#include <numeric>

#include "core/checked.h"

namespace touchstone {

Index place_spans(std::vector<Span>& spans) {
  std::vector<std::size_t> order(spans.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return spans[a].bytes > spans[b].bytes; });
  const auto length = [](const Span& span) {
    return ((Checked(span.bytes) + 63).value() / 64) * 64;
  };
  Index whole = 0;
  std::vector<const Span*> placed;  // by offset
  for (const std::size_t k : order) {
    Span& span = spans[k];
    span.offset = 0;
    for (const Span* other : placed) {
      if (other->last < span.first || span.last < other->first) continue;
      if (span.offset + length(span) <= other->offset) break;
      span.offset = std::max(span.offset, other->offset + length(*other));
    }
    const auto behind =
        std::upper_bound(placed.begin(), placed.end(), span.offset,
                         [](Index offset, const Span* other) { return offset < other->offset; });
    placed.insert(behind, &span);
    whole = std::max(whole, (Checked(span.offset) + length(span)).value());
  }
  return whole;
}

}  // namespace touchstone
