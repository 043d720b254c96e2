// Tests conversion into channel blocks and back, element by element; surrounding memory must be
// preserved.
#include "optimized/kernels/layout.h"

#include <functional>

#include "optimized/kernels/testing.h"

namespace touchstone::testing {
namespace {

// A map inside guarded memory, with a halo of `halo` around it and a gap after each row.
class Blocks {
 public:
  Blocks(optimized::Isa isa, const optimized::Area& area, Index halo, Index gap)
      : lanes(lanes_of(isa)),
        count((area.channels + lanes - 1) / lanes),
        area_(area),
        halo_(halo),
        row_(area.columns + 2 * halo + gap),
        all_(count * (area.rows + 2 * halo) * row_ * lanes) {
    const Index block = (area.rows + 2 * halo) * row_ * lanes;
    map = {all_.data() + (halo * row_ + halo) * lanes, lanes, row_ * lanes, block};
  }
  float& at(Index c, Index y, Index x) {
    return map.data[c / lanes * map.block + y * map.row + x * map.column + c % lanes];
  }
  void fill(unsigned seed) {
    const std::vector<float> numbers =
        integers(count * lanes * area_.rows * area_.columns, seed, 1000);
    Index k = 0;
    each([&](Index c, Index y, Index x) { at(c, y, x) = numbers[static_cast<std::size_t>(k++)]; });
  }
  template <class F>
  void each(F element) {
    for (Index c = 0; c < count * lanes; ++c) {
      for (Index y = 0; y < area_.rows; ++y) {
        for (Index x = 0; x < area_.columns; ++x) element(c, y, x);
      }
    }
  }
  // True if every element outside of the image, halo included, is unchanged.
  bool rest_kept() {
    for (Index k = 0; k < all_.size(); ++k) {
      const Index x = k / lanes % row_ - halo_;
      const Index y = k / lanes / row_ % (area_.rows + 2 * halo_) - halo_;
      const bool inside = x >= 0 && x < area_.columns && y >= 0 && y < area_.rows;
      if (!inside && all_[k] != Guarded::untouched) return false;
    }
    return all_.margin_kept();
  }

  const Index lanes, count;
  optimized::BlockedImage map{};

 private:
  optimized::Area area_;
  Index halo_, row_;
  Guarded all_;
};

void each_extent(
    const std::function<void(optimized::Isa, const optimized::Area&, Index, Index)>& with) {
  for (optimized::Isa isa : present_isas()) {
    for (Index channels : {1, 3, 8, 16, 24, 37, 48}) {
      for (const auto& [rows, columns] :
           std::vector<std::pair<Index, Index>>{{1, 1}, {7, 7}, {4, 16}, {3, 33}, {5, 8}, {0, 4}}) {
        for (Index halo : {0, 1}) {
          for (Index gap : {0, 2}) with(isa, {channels, rows, columns}, halo, gap);
        }
      }
    }
  }
}

TEST(Layout, IntoBlocksAndBack) {
  each_extent([](optimized::Isa isa, const optimized::Area& area, Index halo, Index gap) {
    const Index row = area.columns + 2 - gap, channel = area.rows * row + 1;
    std::vector<float> source = integers(area.channels * channel, 9, 1000);
    Blocks blocks(isa, area, halo, gap);
    to_blocks(isa, {source.data(), row, channel}, blocks.map, area);
    const auto plain = [&](Index c, Index y, Index x) { return c * channel + y * row + x; };
    blocks.each([&](Index c, Index y, Index x) {
      const float wanted =
          c < area.channels ? source[static_cast<std::size_t>(plain(c, y, x))] : 0.0F;
      ASSERT_TRUE(same_bits(blocks.at(c, y, x), wanted))
          << name(isa) << ' ' << c << ',' << y << ',' << x;
    });
    EXPECT_TRUE(blocks.rest_kept());

    Guarded back(area.channels * channel);
    from_blocks(isa, blocks.map, {back.data(), row, channel}, area);
    for (Index c = 0; c < area.channels; ++c) {
      for (Index k = 0; k < channel; ++k) {
        const bool inside = k < area.rows * row && k % row < area.columns;
        ASSERT_EQ(back[c * channel + k],
                  inside ? source[static_cast<std::size_t>(c * channel + k)] : Guarded::untouched);
      }
    }
    EXPECT_TRUE(back.margin_kept());
  });
}

TEST(Layout, CopiesBetweenMaps) {
  each_extent([](optimized::Isa isa, const optimized::Area& area, Index halo, Index gap) {
    Blocks from(isa, area, 1 - halo, gap), to(isa, area, halo, 1);
    from.fill(2);
    copy_blocks(isa, from.map, to.map, {from.count, area.rows, area.columns});
    to.each([&](Index c, Index y, Index x) { ASSERT_EQ(to.at(c, y, x), from.at(c, y, x)); });
    EXPECT_TRUE(to.rest_kept());
  });
}

TEST(Layout, ChannelsThatBeginInsideOfABlock) {
  for (optimized::Isa isa : present_isas()) {
    for (Index first : {0, 3, 8, 16, 24}) {
      for (Index channels : {1, 5, 8, 16, 35, 64}) {
        const optimized::Area area{channels, 3, 5}, whole{channels + first + 2, 3, 5};
        Blocks from(isa, area, 1, 0), to(isa, whole, 0, 1);
        from.fill(2), to.fill(3);
        Blocks before(isa, whole, 0, 1);
        before.fill(3);
        copy_channels(isa, from.map, to.map, first, area);
        to.each([&](Index c, Index y, Index x) {
          const bool moved = c >= first && c < first + channels;
          ASSERT_EQ(to.at(c, y, x), moved ? from.at(c - first, y, x) : before.at(c, y, x))
              << name(isa) << ' ' << channels << " from " << first << ": " << c;
        });
        EXPECT_TRUE(to.rest_kept());
      }
    }
  }
}

TEST(Layout, RepeatsByWholeFactors) {
  for (optimized::Isa isa : present_isas()) {
    for (Index rows : {1, 2, 3}) {
      for (Index columns : {1, 2, 5}) {
        const optimized::Area area{20, 3, 4};
        Blocks from(isa, area, 1, 0), to(isa, {20, 3 * rows, 4 * columns}, 1, 1);
        from.fill(2);
        repeat_blocks(isa, from.map, to.map, {from.count, 3, 4}, rows, columns);
        to.each([&](Index c, Index y, Index x) {
          ASSERT_EQ(to.at(c, y, x), from.at(c, y / rows, x / columns));
        });
        EXPECT_TRUE(to.rest_kept());
      }
    }
  }
}

TEST(Layout, AHaloIsClearedAndNothingElse) {
  for (optimized::Isa isa : present_isas()) {
    const optimized::Area area{20, 3, 4};
    const optimized::Halo halo{2, 1, 1, 2};
    Blocks map(isa, area, 3, 1);
    map.fill(2);
    Blocks before(isa, area, 3, 1);
    before.fill(2);
    clear_halo(isa, map.map, area, halo);
    for (Index c = 0; c < map.count * map.lanes; ++c) {
      for (Index y = -3; y < 6; ++y) {
        for (Index x = -3; x < 8; ++x) {
          const bool inside = y >= 0 && y < 3 && x >= 0 && x < 4;
          const bool near = y >= -2 && y < 4 && x >= -1 && x < 6;
          ASSERT_EQ(map.at(c, y, x), inside || !near ? before.at(c, y, x) : 0.0F)
              << name(isa) << ' ' << y << ',' << x;
        }
      }
    }
  }
}

}  // namespace
}  // namespace touchstone::testing
