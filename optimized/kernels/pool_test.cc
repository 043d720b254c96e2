// Tests pooling of blocked maps against plain loops over the taps.
#include "optimized/kernels/pool.h"

#include <cmath>
#include <limits>

#include "optimized/kernels/testing.h"

namespace touchstone::testing {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

optimized::PoolWindow axis(Index size, Index step, Index spread, Index before, Index image,
                           Index after = 0, bool padding_counts = false) {
  return {size,
          step,
          spread,
          before,
          image,
          padding_counts ? -before : 0,
          padding_counts ? image + after : image};
}

// The input has strides of its own and NaN around its image, which must never be read.
class Image {
 public:
  Image(optimized::Isa isa, Index blocks, Index rows, Index columns)
      : lanes(lanes_of(isa)),
        rows_(rows),
        columns_(columns),
        all_(static_cast<std::size_t>(blocks * (rows + 2) * (columns + 3) * lanes), not_a_number),
        map_{all_.data() + (columns + 3 + 1) * lanes, lanes, (columns + 3) * lanes,
             (rows + 2) * (columns + 3) * lanes} {
    const std::vector<float> numbers = integers(blocks * rows * columns * lanes, 5, 50);
    Index k = 0;
    for (Index b = 0; b < blocks; ++b) {
      for (Index y = 0; y < rows; ++y) {
        for (Index x = 0; x < columns; ++x) {
          for (Index l = 0; l < lanes; ++l) at(b, y, x, l) = numbers[static_cast<std::size_t>(k++)];
        }
      }
    }
  }
  float& at(Index b, Index y, Index x, Index l) {
    return map_.data[b * map_.block + y * map_.row + x * map_.column + l];
  }
  const optimized::BlockedImage& map() const { return map_; }

  float window(optimized::PoolKind kind, const optimized::PoolWindow& down,
               const optimized::PoolWindow& along, Index b, Index y, Index x, Index l) {
    float max = -infinity, sum = 0, counted = 0;
    for (Index i = 0; i < down.size; ++i) {
      for (Index j = 0; j < along.size; ++j) {
        const Index row = y * down.stride + i * down.dilation - down.pad_begin;
        const Index column = x * along.stride + j * along.dilation - along.pad_begin;
        counted += row >= down.counted_from && row < down.counted_to &&
                   column >= along.counted_from && column < along.counted_to;
        if (row < 0 || row >= rows_ || column < 0 || column >= columns_) continue;
        const float element = at(b, row, column, l);
        sum += element;
        if (max < element || std::isnan(element)) max = element;
      }
    }
    return kind == optimized::PoolKind::largest ? max : sum / counted;
  }

  const Index lanes;

 private:
  Index rows_, columns_;
  std::vector<float> all_;
  optimized::BlockedImage map_;
};

void check(optimized::Isa isa, optimized::PoolKind kind, const optimized::PoolWindow& down,
           const optimized::PoolWindow& along, Index rows, Index columns, Image& image,
           Index blocks = 2, Index parts = 1) {
  const Index lanes = image.lanes, column = lanes, row = (columns + 1) * lanes;
  Guarded out(blocks * rows * row);
  const optimized::BlockedImage map{out.data(), column, row, rows * row};
  const optimized::Pool pool(isa, kind, down, along);
  for (Index p = 0; p < parts; ++p) {
    const Index first = rows * p / parts;
    pool.run(image.map(), map, columns, blocks, first, rows * (p + 1) / parts - first);
  }
  for (Index k = 0; k < out.size(); ++k) {
    const Index l = k % lanes, x = k / column % (columns + 1), y = k / row % rows,
                b = k / row / rows;
    if (x == columns) {
      ASSERT_EQ(out[k], Guarded::untouched);
      continue;
    }
    const float wanted = image.window(kind, down, along, b, y, x, l);
    ASSERT_TRUE(same_bits(out[k], wanted) || (std::isnan(out[k]) && std::isnan(wanted)))
        << name(isa) << " block " << b << " at " << y << ',' << x << " lane " << l << ": " << out[k]
        << " for " << wanted;
  }
  EXPECT_TRUE(out.margin_kept());
}

TEST(Pool, AnyWindow) {
  for (optimized::Isa isa : present_isas()) {
    for (optimized::PoolKind kind : {optimized::PoolKind::largest, optimized::PoolKind::mean}) {
      Image image(isa, 2, 9, 11);
      const auto both = [&](const optimized::PoolWindow& down, const optimized::PoolWindow& along,
                            Index rows,
                            Index columns) { check(isa, kind, down, along, rows, columns, image); };
      both(axis(3, 2, 1, 1, 9), axis(3, 2, 1, 1, 11), 5, 6);
      both(axis(2, 2, 1, 0, 9), axis(2, 2, 1, 0, 11), 4, 5);
      both(axis(3, 1, 1, 1, 9), axis(3, 1, 1, 1, 11), 9, 11);
      both(axis(3, 1, 2, 2, 9, 2, true), axis(2, 3, 4, 3, 11, 3, true), 9, 4);
      both(axis(9, 9, 1, 0, 9), axis(11, 11, 1, 0, 11), 1, 1);
      both(axis(1, 1, 1, 0, 9), axis(1, 5, 1, 0, 11), 9, 3);
      both(axis(20, 1, 1, 7, 9, 4, true), axis(3, 2, 1, 1, 11, 1, true), 1, 6);
      both(axis(18, 1, 1, 9, 9), axis(24, 1, 1, 12, 11), 3, 3);  // as many taps, but others
      both(axis(2, 2, 1, 0, 9, 0, true), axis(3, 3, 1, 1, 11, 0, true), 5,
           4);  // beyond the padding
    }
  }
}

TEST(Pool, PartsTogetherAreTheWhole) {
  for (optimized::Isa isa : present_isas()) {
    Image image(isa, 2, 9, 11);
    check(isa, optimized::PoolKind::largest, axis(3, 2, 1, 1, 9), axis(3, 2, 1, 1, 11), 5, 6, image,
          2, 3);
    check(isa, optimized::PoolKind::mean, axis(3, 2, 1, 1, 9), axis(3, 2, 1, 1, 11), 5, 6, image, 0,
          3);
  }
}

TEST(Pool, NaNWinsAndPaddingNever) {
  for (optimized::Isa isa : present_isas()) {
    Image image(isa, 1, 4, 5);
    for (Index y = 0; y < 4; ++y) {
      for (Index x = 0; x < 5; ++x) {
        for (Index l = 0; l < image.lanes; ++l)
          image.at(0, y, x, l) = x < 2 ? -infinity : l % 2 ? -3 : infinity;
      }
    }
    image.at(0, 1, 3, 0) = image.at(0, 3, 4, 1) = image.at(0, 0, 0, 5) = not_a_number;
    for (optimized::PoolKind kind : {optimized::PoolKind::largest, optimized::PoolKind::mean}) {
      check(isa, kind, axis(2, 1, 1, 1, 4), axis(2, 1, 1, 1, 5), 5, 6, image, 1);
      // Windows entirely in the padding: the maximum of no elements, and a mean of none.
      check(isa, kind, axis(1, 1, 1, 2, 4), axis(1, 1, 1, 2, 5), 8, 9, image, 1);
    }
  }
}

TEST(Pool, MeanOfAll) {
  for (optimized::Isa isa : present_isas()) {
    for (const auto& [rows, columns] :
         std::vector<std::pair<Index, Index>>{{1, 1}, {7, 7}, {1, 8}, {9, 3}, {8, 8}, {17, 33}}) {
      Image image(isa, 3, rows, columns);
      Guarded out(3 * image.lanes);
      mean_of_all(isa, image.map(), rows, columns, 3, out.data());
      for (Index k = 0; k < out.size(); ++k) {
        const optimized::PoolWindow down = axis(rows, 1, 1, 0, rows),
                                    along = axis(columns, 1, 1, 0, columns);
        EXPECT_EQ(out[k], image.window(optimized::PoolKind::mean, down, along, k / image.lanes, 0,
                                       0, k % image.lanes));
      }
      EXPECT_TRUE(out.margin_kept());
    }
  }
}

// Means over 2^26 elements: a single sum in order would lose every element after 2^24.
TEST(Pool, MeanOfManyKeepsSmallOnes) {
  for (optimized::Isa isa : present_isas()) {
    const Index lanes = lanes_of(isa), side = 1 << 13;
    std::vector<float> ones(static_cast<std::size_t>(side * lanes), 1.0F);
    std::vector<float> out(static_cast<std::size_t>(lanes));
    // One row, read repeatedly.
    mean_of_all(isa, {ones.data(), lanes, 0, 0}, side, side, 1, out.data());
    EXPECT_EQ(out[0], 1.0F) << name(isa);
    EXPECT_EQ(out.back(), 1.0F) << name(isa);
  }
}

}  // namespace
}  // namespace touchstone::testing
