// Tests dot products, with columns read in place, against plain loops.
#include <cmath>
#include <limits>

#include "optimized/kernels/gemm.h"
#include "optimized/kernels/testing.h"

namespace touchstone::testing {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

struct Case {
  Index depth, columns;
  bool bias = true;
  float min = -infinity, max = infinity;
  Index gap = 0;  // after each column of B
};

std::size_t at(Index k) { return static_cast<std::size_t>(k); }

// Operands in memory that ends at an inaccessible page.
class Row {
 public:
  Row(const Case& given, const std::vector<float>& a, const std::vector<float>& b)
      : given_(given), a_(a.begin(), a.end()), b_(b.begin(), b.end()) {
    const std::vector<float> numbers = integers(given.columns, 3);
    bias_.assign(numbers.begin(), numbers.end());
  }
  explicit Row(const Case& given)
      : Row(given, integers(given.depth, 1),
            integers(std::max<Index>(given.columns * (given.depth + given.gap) - given.gap, 0),
                     2)) {}

  std::vector<float> computed(optimized::Isa isa, Index parts = 1) const {
    Guarded c(given_.columns);
    const optimized::Dots dots{a_.data(),
                               b_.data(),
                               given_.depth + given_.gap,
                               given_.bias ? bias_.data() : nullptr,
                               c.data(),
                               given_.depth,
                               given_.min,
                               given_.max};
    for (Index part = 0; part < parts; ++part) {
      const Index first = given_.columns * part / parts;
      dots_of(isa)(dots, first, given_.columns * (part + 1) / parts - first);
    }
    EXPECT_TRUE(c.margin_kept());
    return {c.data(), c.data() + given_.columns};
  }

  void check(optimized::Isa isa) const {
    const std::vector<float> got = computed(isa);
    for (Index n = 0; n < given_.columns; ++n) {
      const float wanted = expected(n);
      ASSERT_TRUE(same_bits(got[at(n)], wanted) || (std::isnan(got[at(n)]) && std::isnan(wanted)))
          << name(isa) << ' ' << given_.depth << 'x' << given_.columns << " at " << n << ": "
          << got[at(n)] << " for " << wanted;
    }
  }

 private:
  float expected(Index n) const {
    float sum = given_.bias ? bias_[at(n)] : 0;
    for (Index k = 0; k < given_.depth; ++k)
      sum += a_[at(k)] * b_[at(n * (given_.depth + given_.gap) + k)];
    const float raised = given_.min > sum ? given_.min : sum;
    return given_.max < raised ? given_.max : raised;
  }

  Case given_;
  Paged<float> a_, b_, bias_;
};

TEST(Dots, DepthsThatAreNoWholeVectors) {
  for (const optimized::Isa isa : present_isas()) {
    for (Index depth = 0; depth <= 130; ++depth) Row({depth, 5}).check(isa);
    for (const Index depth : {1021, 1024, 1027}) Row({depth, 6}).check(isa);
  }
}

TEST(Dots, FewColumnsAndColumnsLeftOver) {
  for (const optimized::Isa isa : present_isas()) {
    for (Index columns = 0; columns <= 13; ++columns) {
      for (const Index depth : {3, 37, 64}) Row({depth, columns}).check(isa);
    }
  }
}

TEST(Dots, BiasClampAndColumnsThatLieApart) {
  for (const optimized::Isa isa : present_isas()) {
    for (const Index depth : {6, 45}) {
      Row({depth, 7, false}).check(isa);
      Row({depth, 7, true, 0, 6}).check(isa);
      Row({depth, 7, false, -2, infinity}).check(isa);
      Row({depth, 7, true, -9, 9, 3}).check(isa);
      Row({depth, 9, true, -infinity, infinity, 1}).check(isa);
    }
  }
}

// Lanes that an edge masks out must not contribute to a sum: an infinity would show.
TEST(Dots, NaNAndInfinitiesComeThroughOnce) {
  for (const optimized::Isa isa : present_isas()) {
    for (const Index depth : {5, 9, 35, 66}) {
      std::vector<float> a = integers(depth, 1), b = integers(6 * depth, 2);
      for (float& each : a) each += each == 0 ? 1.0F : 0.0F;
      a[at(depth - 2)] = 0;  // times a finite number
      b[at(2)] = infinity;
      b[at(depth + depth / 2)] = -infinity;
      b[at(2 * depth)] = not_a_number;
      b[at(4 * depth - 1)] = infinity;
      b[at(5 * depth - 3)] = -infinity;
      Row({depth, 6, true, 0, 6}, a, b).check(isa);
      Row({depth, 6, false}, a, b).check(isa);
      a[at(0)] = infinity;
      Row({depth, 6, false}, a, b).check(isa);
    }
  }
}

TEST(Dots, PartsTogetherAreTheWholeBitForBit) {
  constexpr Index depth = 301, columns = 23;
  std::mt19937 random(7);
  std::uniform_real_distribution<float> number(-1, 1);
  std::vector<float> a(depth), b(depth * columns);
  for (float& each : a) each = number(random);
  for (float& each : b) each = number(random);
  const Row row({depth, columns, false}, a, b);
  for (const optimized::Isa isa : present_isas()) {
    const std::vector<float> whole = row.computed(isa);
    for (const Index parts : {2, 5, 23}) EXPECT_EQ(row.computed(isa, parts), whole);
    for (Index n = 0; n < columns; ++n) {
      double sum = 0, sizes = 0;
      for (Index k = 0; k < depth; ++k) {
        const double one = double{a[at(k)]} * b[at(n * depth + k)];
        sum += one, sizes += std::abs(one);
      }
      // Error bound that holds for every summation order.
      EXPECT_LE(std::abs(whole[at(n)] - sum), std::ldexp(sizes * depth, -24)) << name(isa);
    }
  }
}

TEST(Dots, LargeMatricesOfOneRowAreReadAsTheyStand) {
  EXPECT_TRUE(optimized::takes_dots(1, 25088, 4096));
  EXPECT_TRUE(optimized::takes_dots(1, 1280, 1000));
  EXPECT_FALSE(optimized::takes_dots(2, 25088, 4096));
  EXPECT_FALSE(optimized::takes_dots(1, 64, 65536));
  EXPECT_FALSE(optimized::takes_dots(1, 512, 10));
}

}  // namespace
}  // namespace touchstone::testing
