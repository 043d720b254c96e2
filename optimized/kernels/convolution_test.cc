// Tests convolutions against loops in double. The data are small integers, so every sum is exact
// and every bit must agree. NaNs surround the data, and would show in a result that read them.
#include "optimized/kernels/convolution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/error.h"
#include "optimized/kernels/convolution_testing.h"
#include "optimized/kernels/grouped.h"

namespace touchstone::optimized {
namespace {

using images::guard, images::Image, images::infinity, images::nan, images::Numbers;

struct Trial {
  ConvolutionShape shape;
  bool residual = false;
  bool special = false;  // infinities and NaN among the data
  bool in_place = false;
  Index margin = 1;  // 0: rows follow each other without a gap
  ConvolutionAlgorithm algorithm = ConvolutionAlgorithm::direct;
  Index out_margin = -1, add_margin = -1;  // of the output and the residual, if not `margin`
  float min = -infinity, max = infinity;
};

std::string text(Isa isa, const Trial& trial) {
  const ConvolutionShape& s = trial.shape;
  std::ostringstream out;
  out << name(isa)
      << (s.plain_input ? " plain"
          : s.depthwise ? " depthwise"
                        : "")
      << " kernel " << s.kernel_rows << "x" << s.kernel_columns << " stride " << s.row_stride << "x"
      << s.column_stride << " dilation " << s.row_dilation << "x" << s.column_dilation
      << " channels " << s.channels_in << " to " << s.channels_out << " of " << s.groups
      << " groups, output " << s.rows_out << "x" << s.columns_out << " margin " << trial.margin;
  return out.str();
}

double clamp(double value, double min, double max) {
  return value < min ? min : value > max ? max : value;
}

// True if a tap belongs to the band of a point.
bool is_summed(const std::vector<Band>& bands, Index at, Index tap) {
  return std::all_of(bands.begin(), bands.end(), [&](const Band& band) {
    return at < band.first || at >= band.first + band.count ||
           (tap >= band.first_tap && tap < band.first_tap + band.taps);
  });
}

void check(Isa isa, const Trial& trial) {
  const ConvolutionShape& s = trial.shape;
  Numbers numbers;
  const Index in_channels = s.depthwise ? s.channels_out : s.channels_in * s.groups;
  const Index summed = s.depthwise ? 1 : s.channels_in;
  Image input(
      in_channels, (s.rows_out - 1) * s.row_stride + (s.kernel_rows - 1) * s.row_dilation + 1,
      (s.columns_out - 1) * s.column_stride + (s.kernel_columns - 1) * s.column_dilation + 1);
  for (float& x : input.plain) x = numbers.integer();
  if (trial.special) {
    for (float& x : input.plain) {
      if (numbers.below(20) == 0) x = std::array{nan, infinity, -infinity}[numbers.below(3) % 3];
    }
  }
  const Index lanes = lanes_of(isa);
  input.lay(s.plain_input ? 1 : lanes, trial.margin, nan);
  if (trial.margin == 0 && s.row_stride > 1) return;

  testing::Paged<float> weights(
      static_cast<std::size_t>(s.channels_out * summed * s.kernel_rows * s.kernel_columns));
  for (float& w : weights) w = numbers.integer();
  const Index blocks = (s.channels_out + lanes - 1) / lanes;
  testing::Paged<float> bias(static_cast<std::size_t>(blocks * lanes));
  for (float& b : bias) b = numbers.integer();
  Image output(s.channels_out, s.rows_out, s.columns_out), residual = output;
  for (float& r : residual.plain) r = numbers.integer();
  output.plain.assign(output.plain.size(), guard);
  const Index margin = trial.out_margin < 0 ? trial.margin : trial.out_margin;
  output.lay(lanes, margin, guard);
  residual.lay(lanes, trial.add_margin < 0 ? margin : trial.add_margin, guard);
  if (trial.in_place)
    output = residual,
    output.map.data = output.laid.data() + (residual.map.data - residual.laid.data());

  const Convolution convolution(isa, s, trial.algorithm);
  testing::Paged<float> packed(static_cast<std::size_t>(convolution.packed_size()));
  convolution.pack(weights.data(), packed.data());
  const BlockedImage* add = trial.in_place ? &output.map : trial.residual ? &residual.map : nullptr;
  testing::Paged<float> scratch(static_cast<std::size_t>(convolution.scratch_size()));
  for (Index part = 0; part < convolution.parts(); ++part) {
    const Index half = s.rows_out / 2;
    convolution.run(input.map, {packed.data(), weights.data()}, bias.data(), add, output.map,
                    trial.min, trial.max, part, 0, half, scratch.data());
    convolution.run(input.map, {packed.data(), weights.data()}, bias.data(), add, output.map,
                    trial.min, trial.max, part, half, s.rows_out - half, scratch.data());
  }

  Index wrong = 0;
  for (Index o = 0; o < s.channels_out; ++o) {
    for (Index y = 0; y < s.rows_out; ++y) {
      for (Index x = 0; x < s.columns_out; ++x) {
        double sum = bias[static_cast<std::size_t>(o)];
        for (Index c = 0; c < summed; ++c) {
          for (Index i = 0; i < s.kernel_rows; ++i) {
            for (Index j = 0; j < s.kernel_columns; ++j) {
              if (!is_summed(s.row_bands, y, i) || !is_summed(s.column_bands, x, j)) continue;
              const Index group = o / (s.channels_out / s.groups);
              sum += static_cast<double>(input.at(s.depthwise ? o : group * s.channels_in + c,
                                                  y * s.row_stride + i * s.row_dilation,
                                                  x * s.column_stride + j * s.column_dilation)) *
                     weights[static_cast<std::size_t>(
                         ((o * summed + c) * s.kernel_rows + i) * s.kernel_columns + j)];
            }
          }
        }
        if (add) sum += residual.at(o, y, x);
        const double want = clamp(sum, trial.min, trial.max);
        float& got = output.at_laid(o, y, x);
        wrong += std::isnan(want) ? !std::isnan(got) : got != want;
        got = guard;
      }
    }
  }
  EXPECT_EQ(wrong, 0) << text(isa, trial);
  // The remaining elements are outside of the image, or lanes without a channel.
  Index touched = 0;
  for (std::size_t k = 0; k < output.laid.size(); ++k) {
    const Index at = static_cast<Index>(k) % output.map.block;
    const Index y = at / output.map.row - margin, x = at % output.map.row / lanes - margin;
    const bool inside = y >= 0 && y < s.rows_out && x >= 0 && x < s.columns_out;
    touched += !inside && output.laid[k] != guard;
  }
  EXPECT_EQ(touched, 0) << text(isa, trial);
}

void check_everywhere(const Trial& trial) {
  for (Isa isa : all_isas) {
    if (processor_has(isa)) check(isa, trial);
  }
}

Trial window(Index kernel, Index stride, Index in, Index out, Index rows, Index columns) {
  Trial trial;
  trial.shape = {kernel, kernel, stride, stride, 1, 1, in, out, rows, columns};
  return trial;
}

TEST(Convolution, EveryWidth) {
  for (Index columns = 1; columns <= 33; ++columns) {
    for (Index stride : {1, 2}) check_everywhere(window(3, stride, 17, 33, 3, columns));
  }
  for (Index columns : {55, 56, 63, 64, 65, 112, 131}) {
    check_everywhere(window(3, 1, 16, 32, 2, columns));
  }
}

TEST(Convolution, EveryCountOfChannels) {
  for (Index in : {1, 3, 7, 8, 9, 15, 16, 24, 40}) {
    for (Index out : {1, 8, 9, 16, 17, 48, 65}) check_everywhere(window(3, 1, in, out, 3, 9));
  }
}

TEST(Convolution, PointsShareAVectorWhereChannelsAreFew) {
  for (Isa isa : all_isas) {
    if (!processor_has(isa)) continue;
    for (Index in : {1, 8, 17}) {
      for (Index out : {1, 3, 4, 8}) {
        for (Index columns : {2, 14, 30}) {
          for (int kind = 0; kind < 4; ++kind) {
            Trial trial = window(5, 1, in, out, 5, columns);
            const bool plain = kind % 2 != 0;
            trial.special = kind >= 2;
            trial.shape.kernel_rows = 2;
            trial.shape.row_stride = 2;
            trial.shape.plain_input = plain;
            trial.algorithm = ConvolutionAlgorithm::narrow;
            trial.min = -20;
            check(isa, trial);
            const std::string kernels =
                Convolution(isa, trial.shape, ConvolutionAlgorithm::narrow).kernels_chosen();
            EXPECT_EQ(kernels.rfind("narrow", 0) == 0, out * 2 <= lanes_of(isa)) << kernels;
          }
        }
      }
    }
  }
}

TEST(Convolution, PointsAreOneRunWhereRowsHaveNoGap) {
  for (Index rows : {1, 2, 3, 7}) {
    for (Index columns : {1, 2, 7, 13, 14}) {
      for (Index margin : {0, 1}) {
        Trial trial = window(1, 1, 20, 40, rows, columns);
        trial.margin = margin;
        trial.residual = true;
        check_everywhere(trial);
        trial.out_margin = 1 - margin;
        check_everywhere(trial);
        trial.add_margin = margin;
        check_everywhere(trial);
        trial.out_margin = margin;
        trial.add_margin = 1 - margin;
        check_everywhere(trial);
      }
    }
  }
}

TEST(Convolution, TilesThatFitTheWidth) {
  const auto chosen = [](Index columns) {
    return Convolution(Isa::avx512, window(3, 1, 64, 64, 14, columns).shape,
                       ConvolutionAlgorithm::direct)
        .kernels_chosen();
  };
  EXPECT_EQ(chosen(56), "blocked 2x14x1 step 1 over 56");
  EXPECT_EQ(chosen(14), "blocked 2x14x1 step 1 over 14");
  EXPECT_EQ(chosen(7), "blocked 2x7x2 step 1 over 7");
  EXPECT_EQ(chosen(16), "blocked 2x8x1 step 1 over 16");
  EXPECT_EQ(chosen(5), "blocked 2x5x2 step 1 over 5");
  EXPECT_EQ(chosen(3), "blocked 2x3x3 step 1 over 3");
}

TEST(Convolution, EveryStrideKernelAndDilation) {
  for (Index rows : {1, 2, 5}) {
    for (Index columns : {1, 3, 4, 5, 7}) {
      for (Index stride : {1, 2, 3}) {
        for (Index dilation : {1, 2, 5}) {
          Trial trial;
          trial.shape = {rows, columns, stride, stride, dilation, dilation, 18, 20, 3, 10};
          check_everywhere(trial);
          trial.shape.row_stride = 3 - stride % 3;
          trial.shape.row_dilation = 1;
          check_everywhere(trial);
        }
      }
    }
  }
}

TEST(Convolution, PlainInput) {
  for (Index channels : {1, 3, 4}) {
    for (Index columns : {1, 5, 13, 14, 28, 33}) {
      for (Index stride : {1, 2, 3, 4}) {
        Trial trial = window(columns % 2 ? 3 : 7, stride, channels, 40, 4, columns);
        trial.shape.plain_input = true;
        check_everywhere(trial);
      }
    }
  }
}

TEST(Convolution, Depthwise) {
  for (Index kernel : {1, 3, 5, 7}) {
    for (Index stride : {1, 2, 3}) {
      for (Index columns : {1, 2, 7, 14, 15, 20, 28}) {
        for (Index channels : {5, 16, 40, 310}) {
          Trial trial = window(kernel, stride, 1, channels, 4, columns);
          trial.shape.depthwise = true;
          trial.residual = kernel == 3;
          check_everywhere(trial);
        }
      }
    }
  }
}

Trial groups(Index count, Index in, Index out, Index kernel, Index stride, Index columns) {
  Trial trial = window(kernel, stride, in, count * out, 3, columns);
  trial.shape.groups = count;
  trial.algorithm = ConvolutionAlgorithm::best;
  return trial;
}

TEST(Convolution, GroupsThatShareABlock) {
  for (Index channels : {1, 2, 3, 4, 8, 12, 20, 24}) {
    for (Index more : {1, 2, 3}) {
      for (Index count : {2, 3, 32}) {
        for (Isa isa : all_isas) {
          if (!processor_has(isa) || !Grouped::fits(isa, count, channels, channels * more))
            continue;
          check(isa, groups(count, channels, channels * more, 3, 1, 5));
        }
      }
    }
  }
  EXPECT_TRUE(Grouped::fits(Isa::avx512, 32, 4, 4));
  EXPECT_TRUE(Grouped::fits(Isa::avx512, 17, 24, 24));
  EXPECT_FALSE(Grouped::fits(Isa::avx512, 8, 24, 4));  // a step reads four blocks
}

TEST(Convolution, GroupsOfEveryWidthAndWindow) {
  for (Index channels : {4, 20}) {
    for (Index columns = 1; columns <= 36; columns += columns < 17 ? 1 : 9) {
      for (Index stride : {1, 2, 3})
        check_everywhere(groups(4, channels, channels, 3, stride, columns));
    }
    for (Index kernel : {1, 2, 5}) {
      Trial trial = groups(4, channels, channels, kernel, 1, 17);
      trial.residual = trial.special = true;
      trial.max = 40;
      check_everywhere(trial);
      trial.shape.row_dilation = trial.shape.column_dilation = 3;
      trial.special = false;
      trial.in_place = true;
      check_everywhere(trial);
    }
  }
}

TEST(Convolution, BandsThatLeaveOutTaps) {
  const std::vector<Band> rows{{0, 2, 1, 2}, {2, 1, 0, 3}, {3, 2, 0, 1}};
  for (Index in : {16, 20, 40}) {
    for (Index out : {16, 40}) {
      for (Index columns : {10, 23}) {
        for (Index dilation : {1, 3}) {
          Trial trial = window(3, 1, in, out, 5, columns);
          trial.shape.row_dilation = trial.shape.column_dilation = dilation;
          trial.residual = true;
          trial.shape.row_bands = rows;
          check_everywhere(trial);
          trial.shape.column_bands = {{0, 7, 2, 1}, {7, 1, 0, 3}, {8, columns - 8, 0, 2}};
          check_everywhere(trial);
          trial.shape.row_bands.clear();
          check_everywhere(trial);
        }
      }
    }
  }
}

TEST(Convolution, ResidualThatMayBeTheOutputAndClamps) {
  for (Index columns : {1, 7, 13, 20}) {
    for (bool in_place : {false, true}) {
      Trial trial = window(3, 1, 17, 40, 5, columns);
      trial.residual = true;
      trial.in_place = in_place;
      trial.min = -4;
      trial.max = 6;
      check_everywhere(trial);
      trial.margin = 0;
      trial.shape.kernel_rows = trial.shape.kernel_columns = 1;
      check_everywhere(trial);
    }
  }
}

TEST(Convolution, WhatKernelsCannotCountToIsRefused) {
  const Convolution convolution(Isa::sse41, {1, 1, 1, 1, 1, 1, 16, 8, 1, 1});
  const BlockedImage far{nullptr, 8, 8, Index{1} << 31}, near{nullptr, 8, 8, 8};
  try {
    convolution.run(far, {nullptr}, nullptr, nullptr, near, 0, 0, 0, 0, 1, nullptr);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind, ErrorKind::unsupported);
  }
}

TEST(Convolution, NotANumberAndInfinityPass) {
  for (Index columns : {1, 2, 3, 4, 6, 7, 14, 12}) {
    for (float max : {6.0F, infinity}) {
      Trial trial = window(2, 1, 18, 40, 3, columns);
      trial.special = true;
      trial.min = 0;
      trial.max = max;
      check_everywhere(trial);
      trial.shape.plain_input = true;
      trial.shape.channels_in = 3;
      check_everywhere(trial);
      trial.shape.plain_input = false;
      trial.shape.depthwise = true;
      check_everywhere(trial);
    }
  }
}

}  // namespace
}  // namespace touchstone::optimized
