// Buffers of one block of memory stay out of each other's way.
#include "optimized/plan/arena.h"

#include <gtest/gtest.h>

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

TEST(Arena, OfNothingIsNothing) {
  std::vector<Span> none;
  EXPECT_EQ(place_spans(none), 0);
  std::vector<Span> empty{{0, 0, 0}};
  EXPECT_EQ(place_spans(empty), 0);
}

}  // namespace
}  // namespace touchstone
