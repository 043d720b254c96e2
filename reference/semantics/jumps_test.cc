// Jumps give sets, conversions clamp and round by element type, indices become ranges.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/numbers/convert.h"
#include "core/numbers/formats.h"
#include "core/property_testing.h"
#include "reference/semantics/bounded.h"
#include "reference/semantics/exact.h"

namespace touchstone {
namespace {

std::vector<double> members(const Bounded& b) {
  if (!b.is_set()) return {b.hi};
  std::vector<double> all;
  for (const Bounded::Member* m = b.members_begin(); m != b.members_end(); ++m)
    all.push_back(m->hi);
  std::sort(all.begin(), all.end());
  return all;
}

using List = std::vector<double>;

TEST(Jumps, ExactArgumentsHaveOneResult) {
  for (const double x : {-2.5, -1.5, -0.5, 0.0, 0.5, 1.5, 2.5, 3.0, 1e18}) {
    const Bounded b = Bounded::raw(x, 0, 0);
    EXPECT_EQ(members(prim::floor(b)), List{std::floor(x)});
    EXPECT_EQ(members(prim::ceil(b)), List{std::ceil(x)});
    EXPECT_EQ(members(prim::truncate(b)), List{std::trunc(x)});
    EXPECT_EQ(members(prim::round_even(b)), List{std::nearbyint(x)});
    EXPECT_EQ(prim::round_even(b).e, 0);
    EXPECT_EQ(prim::round_even(Exact(x)).hi(), std::nearbyint(x));
  }
  // The low half decides: just under 3, just over 2.5.
  EXPECT_EQ(prim::floor(Bounded::raw(3, -1e-20, 0)).hi, 2);
  EXPECT_EQ(prim::round_even(Bounded::raw(2.5, 1e-20, 0)).hi, 3);
  EXPECT_EQ(prim::round_even(Bounded::raw(2.5, -1e-20, 0)).hi, 2);
  EXPECT_EQ(prim::round_even(Bounded::raw(3.5, -1e-20, 0)).hi, 3);
}

TEST(Jumps, StraddlingMakesASet) {
  EXPECT_EQ(members(prim::floor(Bounded::raw(3, 0, 1e-6))), (List{2, 3}));
  EXPECT_EQ(members(prim::round_even(Bounded::raw(2.5, 0, 1e-6))), (List{2, 3}));
  EXPECT_EQ(members(prim::sign(Bounded::raw(0, 0, 1e-6))), (List{-1, 0, 1}));
  EXPECT_EQ(members(prim::floor(Bounded::raw(3.5, 0, 0.1))), List{3});
  const Bounded wide = prim::floor(Bounded::raw(3.5, 0, 10));
  EXPECT_FALSE(wide.is_set());
  EXPECT_EQ(wide.e, 10);
}

TEST(Jumps, TheLargerOfAnythingIsAnything) {
  for (const double x : List{0.5, INFINITY, -INFINITY}) {
    for (const double y : List{0.0, 1.0, INFINITY, -INFINITY}) {
      EXPECT_EQ(prim::maximum(Bounded::anything(x), Bounded::of(y)).e, INFINITY) << x << " " << y;
      EXPECT_EQ(prim::minimum(Bounded::of(y), Bounded::anything(x)).e, INFINITY) << x << " " << y;
      EXPECT_EQ(prim::maximum(Bounded::anything(x), Bounded::of(y)).hi, std::max(x, y));
    }
  }
  EXPECT_EQ(prim::maximum(Bounded::anything(1), Bounded::of(NAN)).e, 0);
}

TEST(Jumps, ConversionToIntegersClampsOrIsOpen) {
  const BoundedScope scope(Type::float32, Class::strict);
  EXPECT_EQ(convert(Bounded::of(300), Type::uint8, true).hi, 255);
  EXPECT_EQ(convert(Bounded::of(-3), Type::uint8, true).hi, 0);
  EXPECT_EQ(convert(Bounded::of(INFINITY), Type::int8, true).hi, 127);
  EXPECT_EQ(convert(Bounded::of(-3.7), Type::int32, false).hi, -3);
  EXPECT_EQ(convert(Bounded::of(300), Type::uint8, false).e, INFINITY);
  EXPECT_EQ(convert(Bounded::of(NAN), Type::int32, false).e, INFINITY);
  EXPECT_EQ(members(convert(Bounded::raw(254.5, 0, 1), Type::uint8, true)), (List{253, 254, 255}));
  EXPECT_EQ(members(convert(Bounded::raw(256, 0, 1.5), Type::uint8, true)), (List{254, 255}));
  EXPECT_EQ(members(convert(Bounded::raw(0, 0, 1e-9), Type::boolean, false)), (List{0, 1}));
  const Bounded top = convert(Bounded::of(1e30), Type::int64, true);
  EXPECT_EQ(static_cast<long double>(top.hi) + top.lo, 9223372036854775807.0L);
}

RC_GTEST_PROP(Jumps, ConversionToSmallFloatsIsTheirOwn, ()) {
  for (const double x : *testing::up_to(200, testing::real_from_to(-500, 500))) {
    for (const Type type : {Type::float8e4m3fn, Type::float8e5m2, Type::float8e4m3fnuz,
                            Type::float16, Type::bfloat16, Type::float4e2m1}) {
      RC_LOG() << name(type) << " of " << x << "\n";
      const auto want =
          static_cast<double>(decode(type, encode(type, x, cast_saturation(type, true))));
      const Bounded b = convert(Bounded::raw(x, 0, 0), type, true);
      RC_ASSERT(b.e == 0 && (b.hi == want || std::isnan(want)));
      // The rounding of any argument in the interval is allowed.
      const double e = std::abs(x) * 0.05;
      const Bounded wide = convert(Bounded::raw(x, 0, e), type, true);
      const auto other =
          static_cast<double>(decode(type, encode(type, x + e * 0.9, cast_saturation(type, true))));
      RC_ASSERT(std::abs(other - wide.hi) <= wide.e || wide.specials());
    }
  }
}

TEST(Jumps, ConversionToASmallFloatGivesTwoNeighbors) {
  // Only the two neighbors: 17 is halfway between 16 and 18 in float8e4m3fn.
  EXPECT_EQ(members(convert(Bounded::raw(17, 0, 0.1), Type::float8e4m3fn, true)), (List{16, 18}));
  EXPECT_EQ(members(convert(Bounded::raw(17.5, 0, 1), Type::float8e4m3fn, true)), (List{16, 18}));
}

TEST(Jumps, StoreRoundsToANarrowerTypeOnly) {
  const BoundedScope scope(Type::float16, Class::strict);  // computes in float
  EXPECT_EQ(store(Bounded::of(1.5), Type::float16).e, 0);
  EXPECT_GT(store(Bounded::of(1 + 0x1p-12), Type::float16).e, 0x1p-12);
  EXPECT_EQ(store(Bounded::of(70000), Type::float16).specials(), special::infinity);
  EXPECT_EQ(store(Bounded::of(-500), Type::float8e4m3fn).specials(), special::nan);
  EXPECT_EQ(store(Bounded::of(9), Type::float4e2m1).specials(), special::largest);
  EXPECT_EQ(store(Bounded::of(0.1F), Type::float32).e, 0);
}

TEST(Jumps, IndicesAreRanges) {
  const BoundedScope scope(Type::float32, Class::strict);
  const IndexRange i = floor_index(Bounded::raw(3, 0, 1e-6));
  EXPECT_EQ(i.lo, 2);
  EXPECT_EQ(i.hi, 3);
  EXPECT_EQ(i.at, 3);
  const IndexRange j = clamp(add(i, 5), 0, 7);
  EXPECT_EQ(j.lo, 7);
  EXPECT_EQ(j.hi, 7);
  EXPECT_TRUE((i < IndexRange(3)) == TriBool::maybe);
  EXPECT_TRUE((i < IndexRange(4)) == TriBool::yes);
  EXPECT_TRUE((i >= IndexRange(4)) == TriBool::no);
  EXPECT_EQ(members(real<Bounded>(i)), (List{2, 3}));
  const Bounded read = read_range(i, [](Index k) { return Bounded(k * 10); });
  EXPECT_EQ(members(read), (List{20, 30}));
  EXPECT_EQ(read.hi, 30);
  EXPECT_EQ(floor_index(Bounded::of(2.5)).hi, 2);
  EXPECT_EQ(ceil_index(Exact(2.5)), 3);
}

TEST(Jumps, RangesMayEndAtTheLargestIndex) {
  const BoundedScope scope(Type::float32, Class::strict);
  constexpr Index most = std::numeric_limits<Index>::max();
  EXPECT_EQ(real<Bounded>(IndexRange(most)).hi, 0x1p63);
  EXPECT_EQ(members(real<Bounded>(IndexRange(most - 1, most, most))).size(), 2u);
  EXPECT_GE(real<Bounded>(IndexRange(-most, most, 0)).e, 0x1p63);
}

}  // namespace
}  // namespace touchstone
