// Reader access: by strides if every intermediate offset fits 64 bits, else element by element; in
// range or refused.
#include "reference/view.h"

#include <gtest/gtest.h>

namespace touchstone {
namespace {

// A tensor of 0, 1, 2 .. and a row of an output.
struct ReadView {
  explicit ReadView(Shape shape)
      : numbers(static_cast<std::size_t>(count(shape))),
        view(numbers.data(), shape, Type::float32) {
    for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] = static_cast<float>(k);
  }
  Row row(Index length) const { return {IndexVector{0}, length}; }

  std::vector<float> numbers;
  View<const float> view;
};

// Checks that the reader agrees with `view.read` if all points are in range, if some are, and if
// points jump past 64 bits.
template <class F>
void reads_as_indices_define(const ReadView& reading, Index inner, Index length, F point) {
  const Row row = reading.row(length);
  const auto read = reader(reading.view, row, inner, true, point);
  for (Index c = 0; c < inner; ++c) {
    for (Index x = 0; x < length; ++x) {
      const IndexVector at = point(row.point(x), c);
      EXPECT_EQ(read.inside(c, x), reading.view.holds(at)) << c << ' ' << x;
      EXPECT_EQ(read.or_else(c, x, -1.0F), reading.view.read(at, -1.0F)) << c << ' ' << x;
    }
  }
}

TEST(Reader, WalksInside) {
  const ReadView image({4, 6});
  reads_as_indices_define(image, 3, 4, [](const IndexVector& at, Index c) {
    return IndexVector{c + 1, at[0] + 2};
  });
}

TEST(Reader, LeavesOutWhatIsOutside) {
  const ReadView image({4, 6});
  reads_as_indices_define(image, 9, 9, [](const IndexVector& at, Index c) {
    return IndexVector{2 * c - 3, 3 * at[0] - 5};
  });
  reads_as_indices_define(image, 9, 9, [](const IndexVector& at, Index c) {
    return IndexVector{5 - 2 * c, 13 - 3 * at[0]};
  });
  reads_as_indices_define(image, 3, 3, [](const IndexVector&, Index) {
    return IndexVector{-1, 0};
  });
}

TEST(Reader, StepsThatDoNotFitAreNoWalk) {
  const ReadView image({4, 6});
  const Index far = Index{1} << 61;
  reads_as_indices_define(image, 4, 2, [&](const IndexVector& at, Index c) {
    return IndexVector{0, c * far + at[0]};
  });
  reads_as_indices_define(image, 2, 2, [&](const IndexVector& at, Index c) {
    return IndexVector{at[0], c * (std::numeric_limits<Index>::max() - 8) - far};
  });
  reads_as_indices_define(image, 3, 2, [&](const IndexVector& at, Index c) {
    return IndexVector{c * -far, at[0] * (far - 1)};
  });
}

// 8 strides of 2^61 wrap around to the start.
TEST(Reader, AWalkThatWouldWrapIsRefused) {
  const ReadView image({16});
  const Row row = image.row(1);
  const auto far = [](const IndexVector& at, Index c) {
    return IndexVector{at[0] + multiply(c, Index{1} << 61)};
  };
  const auto read = reader(image.view, row, 9, true, far);
  EXPECT_TRUE(read.inside(0, 0));
  EXPECT_FALSE(read.inside(1, 0));
  EXPECT_THROW(read.inside(4, 0), Error);
  EXPECT_THROW(read(8, 0), Error);
}

TEST(Reader, AShapeWithoutElementsIsReadNowhere) {
  const std::vector<float> none;
  const View<const float> nothing(none.data(), {0, Index{1} << 40, Index{1} << 40}, Type::float32);
  const Row row{IndexVector{0}, 4};
  const auto read = reader(nothing, row, 2, true, [](const IndexVector& at, Index c) {
    return IndexVector{c, at[0], at[0]};
  });
  EXPECT_FALSE(read.inside(0, 0));
  EXPECT_EQ(read.or_else(1, 3, -1.0F), -1.0F);
}

TEST(Rows, OfNothingHaveNoLength) {
  EXPECT_EQ(Rows({0, Index{1} << 62}, nullptr).longest(), 0);
  EXPECT_EQ(Rows({2, 3}, nullptr).longest(), 3);
  EXPECT_EQ(Rows({}, nullptr).longest(), 1);
}

}  // namespace
}  // namespace touchstone
