// Tests that buffers with overlapping lifetimes do not overlap in the arena.
#include "optimized/plan/arena.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <tuple>

namespace touchstone::optimized {
namespace {

TEST(Arena, BuffersThatLiveTogetherStandApartAndOthersShare) {
  std::vector<Span> spans{{100, 0, 1}, {100, 1, 2}, {100, 2, 3}, {64, 0, 3}};
  EXPECT_EQ(place_spans(spans), 128 + 128 + 64);
  EXPECT_EQ(spans[0].offset, spans[2].offset);
  EXPECT_NE(spans[0].offset, spans[1].offset);
}

// Bytes, first step and further steps of each buffer.
using Drawn = std::vector<std::tuple<std::uint16_t, std::uint8_t, std::uint8_t>>;

// Buffers within 50 steps that live for less than `longest`. Those of a duration of 9 k + 8 are
// never alive.
std::vector<Span> spans_of(const Drawn& drawn, Index longest) {
  std::vector<Span> spans;
  for (const auto& [bytes, first, further] : drawn) {
    Span& span = spans.emplace_back(Span{bytes % 5000, first % 50});
    span.last = span.first + further % longest;
    if (further % 9 == 8) span.first = std::numeric_limits<Index>::max(), span.last = -1;
  }
  return spans;
}

RC_GTEST_PROP(Arena, NoTwoThatLiveTogetherOverlap, (const Drawn& drawn)) {
  std::vector<Span> spans = spans_of(drawn, 6);
  const Index whole = place_spans(spans);
  for (const Span& a : spans) {
    RC_ASSERT(a.offset % 64 == 0);
    RC_ASSERT(a.offset + a.bytes <= whole);
    for (const Span& b : spans) {
      const bool together = a.first <= b.last && b.first <= a.last;
      const bool apart = a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset;
      RC_ASSERT(&a == &b || !together || apart);
    }
  }
}

// Reference placement, as the header describes it, by a scan of all spans placed before.
Index placed_by_scan(std::vector<Span>& spans) {
  std::vector<Span*> order, placed;
  for (Span& span : spans) order.push_back(&span);
  std::ranges::stable_sort(order, std::ranges::greater{}, &Span::bytes);
  const auto length = [](const Span& span) { return (span.bytes + 63) / 64 * 64; };
  Index whole = 0;
  for (Span* span : order) {
    span->offset = 0;
    for (const Span* other : placed) {
      if (other->last < span->first || span->last < other->first) continue;
      if (span->offset + length(*span) <= other->offset) break;
      span->offset = std::max(span->offset, other->offset + length(*other));
    }
    placed.push_back(span);
    std::ranges::stable_sort(placed, {}, &Span::offset);
    whole = std::max(whole, span->offset + length(*span));
  }
  return whole;
}

RC_GTEST_PROP(Arena, EachIsAsLowAsItFits, (const Drawn& drawn, bool brief)) {
  std::vector<Span> spans = spans_of(drawn, brief ? 3 : 40), expected = spans;
  RC_ASSERT(place_spans(spans) == placed_by_scan(expected));
  for (std::size_t k = 0; k < spans.size(); ++k) RC_ASSERT(spans[k].offset == expected[k].offset);
}

TEST(Arena, OfNothingIsNothing) {
  std::vector<Span> none;
  EXPECT_EQ(place_spans(none), 0);
  std::vector<Span> empty{{0, 0, 0}};
  EXPECT_EQ(place_spans(empty), 0);
}

}  // namespace
}  // namespace touchstone::optimized
