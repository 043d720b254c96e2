// Tests that buffers with overlapping lifetimes do not overlap in the arena.
#include "optimized/plan/arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace touchstone {
namespace {

TEST(Arena, BuffersThatLiveTogetherStandApartAndOthersShare) {
  std::vector<Span> spans{{100, 0, 1}, {100, 1, 2}, {100, 2, 3}, {64, 0, 3}};
  EXPECT_EQ(place_spans(spans), 128 + 128 + 64);
  EXPECT_EQ(spans[0].offset, spans[2].offset);
  EXPECT_NE(spans[0].offset, spans[1].offset);
}

TEST(Arena, NoTwoOfManyOverlap) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<Span> spans(40);
    for (Span& span : spans) {
      span.bytes = static_cast<Index>(random() % 5000);
      span.first = static_cast<Index>(random() % 30);
      span.last = span.first + static_cast<Index>(random() % 6);
    }
    const Index whole = place_spans(spans);
    for (const Span& a : spans) {
      EXPECT_EQ(a.offset % 64, 0);
      EXPECT_LE(a.offset + a.bytes, whole);
      for (const Span& b : spans) {
        const bool together = a.first <= b.last && b.first <= a.last;
        const bool apart = a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset;
        EXPECT_TRUE(&a == &b || !together || apart);
      }
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

TEST(Arena, EachIsAsLowAsItFits) {
  std::mt19937 random(2);
  for (int round = 0; round < 200; ++round) {
    std::vector<Span> spans(1 + random() % 60);
    for (Span& span : spans) {
      span.bytes = static_cast<Index>(random() % 700);
      span.first = static_cast<Index>(random() % 50);
      span.last = span.first + static_cast<Index>(random() % (round % 2 ? 3 : 40));
      if (random() % 9 == 0) span.first = std::numeric_limits<Index>::max(), span.last = -1;
    }
    std::vector<Span> expected = spans;
    EXPECT_EQ(place_spans(spans), placed_by_scan(expected));
    for (std::size_t k = 0; k < spans.size(); ++k) EXPECT_EQ(spans[k].offset, expected[k].offset);
  }
}

TEST(Arena, OfNothingIsNothing) {
  std::vector<Span> none;
  EXPECT_EQ(place_spans(none), 0);
  std::vector<Span> empty{{0, 0, 0}};
  EXPECT_EQ(place_spans(empty), 0);
}

}  // namespace
}  // namespace touchstone
