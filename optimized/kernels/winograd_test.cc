// Tests Winograd convolution against sums in double, within a bound on its accumulated rounding
// errors. The bound is a number of roundings, times the unit roundoff, times |A'| (sum over
// channels of (|G| |w| |G'|) . (|B'| |x| |B|)) |A|. There, |M| has the absolute values of M.
//
// It is the bound of Barabasz, Anderson, Soodhalter and Gregg, for two dimensions and several
// channels: Error Analysis and Improving the Accuracy of Winograd Convolution for Deep Neural
// Networks; ACM TOMS 46(4), 2020.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "optimized/kernels/convolution.h"
#include "optimized/kernels/convolution_testing.h"

namespace touchstone::optimized {
namespace {

using images::guard, images::Image, images::infinity, images::nan, images::Numbers;

using Matrix = std::vector<std::vector<double>>;

Matrix transposed(const Matrix& m) {
  Matrix out(m[0].size(), std::vector<double>(m.size()));
  for (std::size_t i = 0; i < m.size(); ++i) {
    for (std::size_t j = 0; j < m[0].size(); ++j) out[j][i] = m[i][j];
  }
  return out;
}
Matrix product(const Matrix& a, const Matrix& b) {
  Matrix out(a.size(), std::vector<double>(b[0].size()));
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t k = 0; k < b.size(); ++k) {
      for (std::size_t j = 0; j < b[0].size(); ++j) out[i][j] += a[i][k] * b[k][j];
    }
  }
  return out;
}
Matrix around(const Matrix& a, const Matrix& m) { return product(product(a, m), transposed(a)); }

// Absolute values of the three matrices in Lavin's paper.
struct Transforms {
  Matrix a, b, g;  // A', B', G
};
Transforms absolute(Index points) {
  if (points == 2) {
    return {{{1, 1, 1, 0}, {0, 1, 1, 1}},
            {{1, 0, 1, 0}, {0, 1, 1, 0}, {0, 1, 1, 0}, {0, 1, 0, 1}},
            {{1, 0, 0}, {.5, .5, .5}, {.5, .5, .5}, {0, 0, 1}}};
  }
  return {{{1, 1, 1, 1, 1, 0}, {0, 1, 1, 2, 2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, 1, 8, 8, 1}},
          {{4, 0, 5, 0, 1, 0},
           {0, 4, 4, 1, 1, 0},
           {0, 4, 4, 1, 1, 0},
           {0, 2, 1, 2, 1, 0},
           {0, 2, 1, 2, 1, 0},
           {0, 4, 0, 5, 0, 1}},
          {{1 / 4., 0, 0},
           {1 / 6., 1 / 6., 1 / 6.},
           {1 / 6., 1 / 6., 1 / 6.},
           {1 / 24., 1 / 12., 1 / 6.},
           {1 / 24., 1 / 12., 1 / 6.},
           {0, 0, 1}}};
}

// Returns the maximum number of roundings of a term in a product with a matrix. These are the
// additions of its row, one if a factor is no power of two, and one more if it is no float32.
int roundings(const Matrix& matrix) {
  int max = 0;
  for (const std::vector<double>& row : matrix) {
    int terms = 0, factors = 0;
    for (const double factor : row) {
      int exponent = 0;
      terms += factor != 0;
      if (factor != 0 && std::frexp(factor, &exponent) != 0.5)
        factors = std::max(factors, static_cast<float>(factor) == factor ? 1 : 2);
    }
    max = std::max(max, terms - 1 + factors);
  }
  return max;
}
// Each transform twice, the product, the sum over the channels, bias and residual.
double unit_error(const Transforms& t, Index channels) {
  const double count = 2 * (roundings(t.a) + roundings(t.b) + roundings(t.g)) + 1 +
                       static_cast<double>(channels - 1) + 2;
  const double u = std::ldexp(1, -24);
  return count * u / (1 - count * u);
}

// Special value at one position of the input.
struct Planted {
  Index channel, row, column;
  float number;
};

struct Trial {
  Index in, out, rows, columns;
  ConvolutionAlgorithm algorithm;
  Index chunk = 0;  // rows per call; 0: rows_at_once()
  bool residual = false;
  float min = -infinity, max = infinity;
  Index threads = 1;  // number of threads to split the work for
  std::vector<Planted> planted{};
  float weight = 0;  // replaces the last weight; 0: none
};

// Returns the float32 sum in the order of the definition, each product rounded.
float in_order(const Trial& t, Image& input, Image& residual, const testing::Paged<float>& weights,
               const testing::Paged<float>& bias, Index o, Index y, Index x) {
  float sum = 0;
  for (Index k = 0; k < 9; ++k) {
    for (Index c = 0; c < t.in; ++c) {
      const float product = input.at(c, y + k / 3, x + k % 3) *
                            weights[static_cast<std::size_t>((o * t.in + c) * 9 + k)];
      sum += product;
    }
  }
  sum += bias[static_cast<std::size_t>(o)];
  if (t.residual) sum += residual.at(o, y, x);
  return sum < t.min ? t.min : sum > t.max ? t.max : sum;
}

void check(Isa isa, const Trial& t) {
  SCOPED_TRACE(std::string(name(isa)) + " " + std::to_string(t.in) + " to " +
               std::to_string(t.out) + ", " + std::to_string(t.rows) + "x" +
               std::to_string(t.columns));
  ConvolutionShape shape{3, 3, 1, 1, 1, 1, t.in, t.out, t.rows, t.columns};
  Numbers numbers;
  Image input(t.in, t.rows + 2, t.columns + 2), output(t.out, t.rows, t.columns);
  Image residual = output;
  for (float& x : input.plain) x = numbers.real();
  for (float& x : residual.plain) x = numbers.real();
  for (const Planted& p : t.planted) input.at(p.channel, p.row, p.column) = p.number;
  output.plain.assign(output.plain.size(), guard);
  const Index lanes = lanes_of(isa);
  // Lanes without a channel, and all memory around, are NaN: lanes must never mix, and nothing
  // beyond the halo may be read.
  input.lay(lanes, 1, nan);
  residual.lay(lanes, 0, guard);
  output.lay(lanes, 1, guard);
  testing::Paged<float> weights(static_cast<std::size_t>(t.in * t.out * 9));
  for (float& w : weights) w = numbers.real();
  if (t.weight != 0) weights[weights.size() - 1] = t.weight;
  testing::Paged<float> bias(static_cast<std::size_t>((t.out + lanes - 1) / lanes * lanes));
  for (float& b : bias) b = numbers.real();

  const Convolution convolution(isa, shape, t.algorithm, t.threads);
  const Index points = convolution.rows_of_a_tile();
  ASSERT_EQ(points, t.algorithm == ConvolutionAlgorithm::winograd2 ? 2 : 4);
  testing::Paged<float> packed(static_cast<std::size_t>(convolution.packed_size()));
  testing::Paged<float> scratch(static_cast<std::size_t>(convolution.scratch_size()));
  convolution.pack(weights.data(), packed.data());
  const Index step = std::min(convolution.rows_at_once(), t.chunk > 0 ? t.chunk : t.rows);
  for (Index first = 0; first < t.rows; first += step) {
    for (Index part = 0; part < convolution.parts(); ++part) {
      convolution.run(input.map, {packed.data(), weights.data()}, bias.data(),
                      t.residual ? &residual.map : nullptr, output.map, t.min, t.max, part, first,
                      std::min(step, t.rows - first), scratch.data());
    }
  }

  const Transforms size = absolute(points);
  std::vector<Matrix> filters;
  for (Index k = 0; k < t.out * t.in; ++k) {
    Matrix w(3, std::vector<double>(3));
    for (std::size_t tap = 0; tap < 9; ++tap) {
      w[tap / 3][tap % 3] = std::abs(weights[static_cast<std::size_t>(k * 9) + tap]);
    }
    filters.push_back(around(size.g, w));
  }
  Index wrong = 0;
  double closest = 0;
  for (Index y0 = 0; y0 < t.rows; y0 += points) {
    const bool exact =
        t.weight != 0 || std::any_of(t.planted.begin(), t.planted.end(), [&](const Planted& p) {
          return p.row >= y0 && p.row < std::min(y0 + points, t.rows) + 2;
        });
    if (exact) {
      for (Index o = 0; o < t.out; ++o) {
        for (Index y = y0; y < std::min(y0 + points, t.rows); ++y) {
          for (Index x = 0; x < t.columns; ++x) {
            const float want = in_order(t, input, residual, weights, bias, o, y, x);
            float& got = output.at_laid(o, y, x);
            wrong += !(got == want || (std::isnan(got) && std::isnan(want)));
            got = guard;
          }
        }
      }
      continue;
    }
    for (Index x0 = 0; x0 < t.columns; x0 += points) {
      std::vector<Matrix> tiles;
      for (Index c = 0; c < t.in; ++c) {
        Matrix x(static_cast<std::size_t>(points + 2),
                 std::vector<double>(static_cast<std::size_t>(points + 2)));
        for (Index i = 0; i < points + 2; ++i) {
          for (Index j = 0; j < points + 2; ++j) {
            x[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = std::abs(
                input.at(c, std::min(y0 + i, input.rows - 1), std::min(x0 + j, input.columns - 1)));
          }
        }
        tiles.push_back(around(size.b, x));
      }
      for (Index o = 0; o < t.out; ++o) {
        Matrix sum(tiles[0].size(), std::vector<double>(tiles[0].size()));
        for (Index c = 0; c < t.in; ++c) {
          const Matrix& w = filters[static_cast<std::size_t>(o * t.in + c)];
          for (std::size_t i = 0; i < sum.size(); ++i) {
            for (std::size_t j = 0; j < sum.size(); ++j) {
              sum[i][j] += w[i][j] * tiles[static_cast<std::size_t>(c)][i][j];
            }
          }
        }
        const Matrix bound = around(size.a, sum);
        for (Index y = y0; y < std::min(y0 + points, t.rows); ++y) {
          for (Index x = x0; x < std::min(x0 + points, t.columns); ++x) {
            double want = bias[static_cast<std::size_t>(o)];
            for (Index c = 0; c < t.in; ++c) {
              for (Index k = 0; k < 9; ++k) {
                want += static_cast<double>(input.at(c, y + k / 3, x + k % 3)) *
                        weights[static_cast<std::size_t>((o * t.in + c) * 9 + k)];
              }
            }
            double more = std::abs(static_cast<double>(bias[static_cast<std::size_t>(o)]));
            if (t.residual) {
              want += residual.at(o, y, x);
              more += std::abs(residual.at(o, y, x));
            }
            want = want < t.min ? t.min : want > t.max ? t.max : want;
            float& got = output.at_laid(o, y, x);
            const double allowed =
                unit_error(size, t.in) *
                (bound[static_cast<std::size_t>(y - y0)][static_cast<std::size_t>(x - x0)] + more);
            closest = std::max(closest, std::abs(got - want) / allowed);
            wrong += !(std::abs(got - want) <= allowed);
            got = guard;
          }
        }
      }
    }
  }
  EXPECT_EQ(wrong, 0) << "of the bound: " << closest;
  Index touched = 0;
  for (std::size_t k = 0; k < output.laid.size(); ++k) {
    const Index at = static_cast<Index>(k) % output.map.block;
    const Index y = at / output.map.row - 1, x = at % output.map.row / lanes - 1;
    const bool inside = y >= 0 && y < t.rows && x >= 0 && x < t.columns;
    touched += !inside && output.laid[k] != guard;
  }
  EXPECT_EQ(touched, 0);
}

void check_everywhere(Trial trial) {
  for (Isa isa : {Isa::avx2, Isa::avx512}) {
    for (ConvolutionAlgorithm algorithm :
         {ConvolutionAlgorithm::winograd2, ConvolutionAlgorithm::winograd4}) {
      trial.algorithm = algorithm;
      if (processor_has(isa)) check(isa, trial);
    }
  }
}

TEST(Winograd, EverySizeOfMap) {
  for (Index rows : {1, 2, 3, 4, 5, 7, 8}) {
    for (Index columns : {1, 2, 3, 4, 6, 9, 14}) {
      check_everywhere({17, 18, rows, columns, ConvolutionAlgorithm::best});
    }
  }
}

TEST(Winograd, EveryCountOfChannels) {
  for (Index in : {1, 8, 15, 16, 33, 64}) {
    for (Index out : {1, 16, 31, 48}) check_everywhere({in, out, 6, 9, ConvolutionAlgorithm::best});
  }
}

TEST(Winograd, RowsInAnyChunks) {
  for (Index chunk : {1, 3, 4, 6}) {
    Trial trial{16, 16, 11, 10, ConvolutionAlgorithm::best, chunk};
    check_everywhere(trial);
  }
}

// Large weights are split by output channels; the last part may have fewer.
TEST(Winograd, CutForThreads) {
  const auto parts = [](Isa isa, Index out, Index rows, Index threads) {
    const ConvolutionShape shape{3, 3, 1, 1, 1, 1, 176, out, rows, 9};
    return Convolution(isa, shape, ConvolutionAlgorithm::winograd4, threads).parts();
  };
  EXPECT_EQ(parts(Isa::avx512, 88, 6, 3), 3);
  EXPECT_EQ(parts(Isa::avx512, 88, 6, 16), 3);  // of two blocks each
  EXPECT_EQ(parts(Isa::avx512, 24, 6, 2), 1);   // the weights stay in a core's cache
  for (const Index threads : {2, 3, 16}) {
    for (const Index in : {17, 176}) {
      Trial trial{in, 88, 6, 9, ConvolutionAlgorithm::best};
      trial.residual = true;
      trial.threads = threads;
      check_everywhere(trial);
    }
  }
}

TEST(Winograd, ResidualAndClamp) {
  Trial trial{20, 20, 7, 11, ConvolutionAlgorithm::best};
  trial.residual = true;
  check_everywhere(trial);
  trial.min = -0.5F;
  trial.max = 0.75F;
  check_everywhere(trial);
}

// Rows of tiles that read such a number must equal the definition's sum, and no other row may
// change.
TEST(Winograd, NumbersThatWouldSpread) {
  constexpr float huge = 3e38F;
  const std::vector<std::vector<Planted>> all{
      {{0, 0, 0, nan}},     // in a corner, in the halo
      {{16, 13, 11, nan}},  // in the last channel
      {{3, 6, 5, infinity}},
      {{3, 6, 5, -infinity}},
      {{3, 6, 5, infinity}, {3, 6, 6, -infinity}},  // a NaN where both are read
      {{3, 6, 5, infinity}, {4, 6, 5, infinity}, {5, 6, 5, -infinity}},
      {{3, 6, 5, huge}},
      {{3, 6, 5, huge}, {3, 7, 5, huge}, {4, 7, 5, -huge}},
      {{3, 6, 5, 1e34F}}};  // finite, but overflows in the transforms
  for (const std::vector<Planted>& planted : all) {
    for (const float min : {-infinity, 0.0F}) {
      Trial trial{17, 18, 12, 10, ConvolutionAlgorithm::best};
      trial.residual = true;
      trial.planted = planted;
      trial.min = min;
      check_everywhere(trial);
      trial.chunk = 4;
      trial.threads = 3;
      check_everywhere(trial);
    }
  }
}

TEST(Winograd, WeightsThatWouldSpread) {
  for (const float weight : {nan, infinity, -infinity, 3e38F}) {
    Trial trial{17, 18, 5, 6, ConvolutionAlgorithm::best};
    trial.weight = weight;
    check_everywhere(trial);
  }
}

TEST(Winograd, OnlyWhereItFits) {
  const auto taken = [](ConvolutionShape shape) {
    return Convolution(Isa::avx2, shape, ConvolutionAlgorithm::winograd4).rows_of_a_tile() > 1;
  };
  const ConvolutionShape fits{3, 3, 1, 1, 1, 1, 16, 16, 8, 8};
  EXPECT_TRUE(taken(fits));
  EXPECT_EQ(Convolution(Isa::avx2, fits, ConvolutionAlgorithm::direct).scratch_size(), 0);
  for (const auto change : std::array<void (*)(ConvolutionShape&), 8>{
           [](ConvolutionShape& s) { s.kernel_rows = 1; },
           [](ConvolutionShape& s) { s.kernel_columns = 5; },
           [](ConvolutionShape& s) { s.row_stride = 2; },
           [](ConvolutionShape& s) { s.column_stride = 2; },
           [](ConvolutionShape& s) { s.row_dilation = 2; },
           [](ConvolutionShape& s) { s.column_dilation = 2; },
           [](ConvolutionShape& s) { s.plain_input = true; },
           [](ConvolutionShape& s) { s.depthwise = true; }}) {
    ConvolutionShape shape = fits;
    change(shape);
    EXPECT_FALSE(taken(shape));
  }
}

}  // namespace
}  // namespace touchstone::optimized
