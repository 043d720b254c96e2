// Tests every matmul tile against plain loops.
#include "optimized/kernels/gemm.h"

#include <cmath>

#include "optimized/kernels/testing.h"

namespace touchstone::testing {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

struct Case {
  Index rows, depth, columns;
  bool bias = true, residual = false, transposed = false, in_place = false;
  float min = -infinity, max = infinity;
};

class Matrices {
 public:
  explicit Matrices(const Case& given, const std::vector<float>& a, const std::vector<float>& b)
      : c_(given),
        a_(a.begin(), a.end()),
        b_(b.begin(), b.end()),
        bias_(paged(integers(given.columns, 3))),
        residual_(paged(integers(given.rows * (given.columns + residual_gap), 4))) {}

  float expected(Index m, Index n) const {
    float sum = c_.bias ? bias_[at(n)] : 0;
    for (Index k = 0; k < c_.depth; ++k) sum = std::fma(a(m, k), b(k, n), sum);
    if (c_.residual) sum += residual_[at(m * (c_.columns + residual_gap) + n)];
    const float raised = c_.min > sum ? c_.min : sum;
    return c_.max < raised ? c_.max : raised;
  }

  // Computes in parts, then checks every element of C and the memory around it.
  void check(optimized::Isa isa, Index panel_parts = 1, Index row_parts = 1) {
    const optimized::Gemm gemm(isa);
    Guarded packed(gemm.packed_size(c_.depth, c_.columns)), c(c_.rows * (c_.columns + gap));
    const optimized::GemmOperand factor{b_.data(), c_.transposed ? 1 : c_.columns,
                                        c_.transposed ? c_.depth : 1, c_.depth, c_.columns};
    const Index panels = gemm.panels(c_.columns);
    optimized::GemmProblem product{a_.data(), c_.depth,         packed.data(), nullptr,    0,
                                   c.data(),  c_.columns + gap, c_.depth,      c_.columns, c_.min,
                                   c_.max};
    if (c_.residual)
      product.residual = residual_.data(), product.residual_row = c_.columns + residual_gap;
    if (c_.in_place) {
      for (Index m = 0; m < c_.rows; ++m)
        std::copy_n(residual_.data() + m * product.residual_row, c_.columns,
                    c.data() + m * product.c_row);
      product.residual = c.data(), product.residual_row = product.c_row;
    }
    for (Index p = 0; p < panel_parts; ++p) {
      const Index first = panels * p / panel_parts, count = panels * (p + 1) / panel_parts - first;
      gemm.pack(factor, c_.bias ? bias_.data() : nullptr, packed.data(), first, count);
      for (Index r = 0; r < row_parts; ++r) {
        const Index row = c_.rows * r / row_parts;
        gemm.run(product, first, count, row, c_.rows * (r + 1) / row_parts - row);
      }
    }
    for (Index m = 0; m < c_.rows; ++m) {
      for (Index n = 0; n < c_.columns; ++n) {
        const float got = c[m * product.c_row + n], wanted = expected(m, n);
        ASSERT_TRUE(same_bits(got, wanted) || (std::isnan(got) && std::isnan(wanted)))
            << name(isa) << ' ' << c_.rows << 'x' << c_.depth << 'x' << c_.columns << " at " << m
            << ',' << n << ": " << got << " for " << wanted;
      }
      for (Index n = 0; n < gap; ++n)
        ASSERT_EQ(c[m * product.c_row + c_.columns + n], Guarded::untouched) << name(isa);
    }
    EXPECT_TRUE(c.margin_kept() && packed.margin_kept()) << name(isa);
    for (Index k = 0; k < packed.size(); ++k) ASSERT_NE(packed[k], Guarded::untouched);
    Guarded unpacked(c_.depth * c_.columns);
    gemm.unpack(packed.data(),
                {unpacked.data(), factor.depth_stride, factor.column_stride, c_.depth, c_.columns});
    EXPECT_TRUE(unpacked.margin_kept());
    for (Index k = 0; k < unpacked.size(); ++k)
      ASSERT_TRUE(same_bits(unpacked[k], b_[at(k)])) << name(isa) << " at " << k;
  }

 private:
  static constexpr Index gap = 3, residual_gap = 1;
  static std::size_t at(Index k) { return static_cast<std::size_t>(k); }
  float a(Index m, Index k) const { return a_[at(m * c_.depth + k)]; }
  float b(Index k, Index n) const {
    return b_[at(c_.transposed ? n * c_.depth + k : k * c_.columns + n)];
  }
  Case c_;
  static Paged<float> paged(const std::vector<float>& from) { return {from.begin(), from.end()}; }
  Paged<float> a_, b_, bias_, residual_;
};

Matrices of_integers(const Case& c) {
  return Matrices(c, integers(c.rows * c.depth, 1), integers(c.depth * c.columns, 2));
}

TEST(Gemm, TailsOfEveryDimension) {
  for (optimized::Isa isa : present_isas()) {
    for (Index rows = 0; rows <= 26; ++rows) {
      for (Index columns : {1, 7, 8, 15, 16, 31, 32, 33, 64, 65, 130, 150})
        of_integers({rows, 9, columns}).check(isa);
    }
    for (Index depth : {0, 1, 2, 3, 4, 5, 8, 33}) {
      for (Index rows : {1, 4, 13}) of_integers({rows, depth, 37}).check(isa);
    }
    of_integers({5, 3, 0}).check(isa);
  }
}

TEST(Gemm, BiasResidualClampAndTransposedFactor) {
  for (optimized::Isa isa : present_isas()) {
    for (Index rows : {1, 3, 7, 12, 29}) {
      for (Index columns : {5, 32, 70}) {
        of_integers({rows, 11, columns, false}).check(isa);
        of_integers({rows, 11, columns, true, true}).check(isa);
        of_integers({rows, 11, columns, false, true, true}).check(isa);
        of_integers({rows, 11, columns, true, true, false, true}).check(isa);
        of_integers({rows, 11, columns, true, true, true, false, 0, 6}).check(isa);
        of_integers({rows, 11, columns, true, false, false, false, -2, infinity}).check(isa);
      }
    }
  }
}

TEST(Gemm, PartsTogetherAreTheWhole) {
  for (optimized::Isa isa : present_isas()) {
    of_integers({29, 40, 150}).check(isa, 3, 2);
    of_integers({3, 40, 300}).check(isa, 4, 1);
    of_integers({400, 9, 70}).check(isa);  // more rows than stay in L2
    // More of k than stays in L1: the epilogue must apply to the complete sum.
    for (Index rows : {1, 13}) {
      of_integers({rows, 600, 40}).check(isa);
      of_integers({rows, 600, 40, true, true, false, false, -20, 30}).check(isa);
      of_integers({rows, 513, 40, true, true, true, true, -20, 30}).check(isa);
    }
  }
}

TEST(Gemm, NaNAndInfinitiesComeThrough) {
  for (optimized::Isa isa : present_isas()) {
    for (Index rows : {1, 2, 13}) {
      const Case c{rows, 6, 40, true, false, false, false, 0, 6};
      std::vector<float> a = integers(rows * 6, 1), b = integers(6 * 40, 2);
      for (std::size_t n = 0; n < 40; n += 3) b[80 + n] = not_a_number;
      b[81] = infinity, b[121] = -infinity, b[82] = infinity;
      a[2] = infinity, a[3] = 1;
      Matrices(c, a, b).check(isa);
      Matrices({rows, 6, 40, true, true}, a, b).check(isa);
    }
  }
}

// Sums of random numbers must be in the order of k with FMA, for every tile. SSE4.1 has no FMA; its
// sums of integers are exact nevertheless.
TEST(Gemm, EveryTileSumsInTheSameOrder) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> number(-1, 1);
  for (optimized::Isa isa : present_isas()) {
    if (isa == optimized::Isa::sse41) continue;
    for (Index rows = 1; rows <= 14; ++rows) {
      std::vector<float> a(static_cast<std::size_t>(rows * 61)), b(61 * 150);
      for (float& x : a) x = number(random);
      for (float& x : b) x = number(random);
      Matrices({rows, 61, 150, true, true, false, false, -1, 3}, a, b).check(isa);
    }
  }
}

}  // namespace
}  // namespace touchstone::testing
