// touchstone_kernel_bench [NAME]: measures the convolution kernels at the shapes of well-known
// networks, as a share of one core's peak multiply-adds. NAME selects the lines that contain it.
// The peak is measured between the runs of each kernel, so that both see the same machine state.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "optimized/kernels/convolution.h"
#include "tools/bench/kernels/peak.h"

namespace {

using namespace touchstone;

struct Row {
  const char* name;
  optimized::ConvolutionShape shape;
};

optimized::ConvolutionShape square(Index kernel, Index stride, Index in, Index out, Index size) {
  return {kernel, kernel, stride, stride, 1, 1, in, out, size, size};
}
optimized::ConvolutionShape plain(optimized::ConvolutionShape shape) {
  shape.plain_input = true;
  return shape;
}
optimized::ConvolutionShape depthwise(Index kernel, Index stride, Index channels, Index size) {
  optimized::ConvolutionShape shape = square(kernel, stride, 1, channels, size);
  shape.depthwise = true;
  return shape;
}

const std::vector<Row> rows{
    {"ResNet 7x7/2 3-64 @112", plain(square(7, 2, 3, 64, 112))},
    {"MobileNet 3x3/2 3-32 @112", plain(square(3, 2, 3, 32, 112))},
    {"ResNet 3x3 64 @56", square(3, 1, 64, 64, 56)},
    {"ResNet 3x3 128 @28", square(3, 1, 128, 128, 28)},
    {"ResNet 3x3 256 @14", square(3, 1, 256, 256, 14)},
    {"ResNet 3x3 512 @7", square(3, 1, 512, 512, 7)},
    {"ResNet 3x3/2 128 @28", square(3, 2, 128, 128, 28)},
    {"ResNet 3x3/2 512 @7", square(3, 2, 512, 512, 7)},
    {"ResNet 1x1 64-256 @56", square(1, 1, 64, 256, 56)},
    {"ResNet 1x1 256-64 @56", square(1, 1, 256, 64, 56)},
    {"ResNet 1x1 512-128 @28", square(1, 1, 512, 128, 28)},
    {"ResNet 1x1 128-512 @28", square(1, 1, 128, 512, 28)},
    {"ResNet 1x1 1024-256 @14", square(1, 1, 1024, 256, 14)},
    {"ResNet 1x1 256-1024 @14", square(1, 1, 256, 1024, 14)},
    {"ResNet 1x1 2048-512 @7", square(1, 1, 2048, 512, 7)},
    {"ResNet 1x1/2 256-512 @28", square(1, 2, 256, 512, 28)},
    {"VGG 3x3 64 @224", square(3, 1, 64, 64, 224)},
    {"VGG 3x3 256 @56", square(3, 1, 256, 256, 56)},
    {"VGG 3x3 512 @28", square(3, 1, 512, 512, 28)},
    {"VGG 3x3 512 @14", square(3, 1, 512, 512, 14)},
    {"MobileNet 1x1 24-144 @56", square(1, 1, 24, 144, 56)},
    {"MobileNet 1x1 576-96 @14", square(1, 1, 576, 96, 14)},
    {"MobileNet 1x1 960-320 @7", square(1, 1, 960, 320, 7)},
    {"Squeeze 1x1 960-240 @1", square(1, 1, 960, 240, 1)},
    {"MobileNet depthwise 3x3 32 @112", depthwise(3, 1, 32, 112)},
    {"MobileNet depthwise 3x3/2 96 @56", depthwise(3, 2, 96, 56)},
    {"MobileNet depthwise 3x3 144 @56", depthwise(3, 1, 144, 56)},
    {"MobileNet depthwise 3x3 384 @14", depthwise(3, 1, 384, 14)},
    {"MobileNet depthwise 3x3 960 @7", depthwise(3, 1, 960, 7)},
    {"MobileNet depthwise 5x5 240 @14", depthwise(5, 1, 240, 14)},
};

class Aligned {  // feature-map memory, aligned to a cache line
 public:
  explicit Aligned(Index size)
      : data_(static_cast<float*>(
            std::aligned_alloc(64, static_cast<std::size_t>(size * 4 + 127) / 64 * 64))) {
    for (Index k = 0; k < size; ++k) data_[k] = static_cast<float>(k % 7 - 3);
  }
  ~Aligned() { std::free(data_); }
  Aligned(const Aligned&) = delete;
  Aligned& operator=(const Aligned&) = delete;
  float* get() const { return data_; }

 private:
  float* data_;
};

void measure(optimized::Isa isa, const Row& row, optimized::ConvolutionAlgorithm algorithm) {
  const optimized::ConvolutionShape& s = row.shape;
  const Index lanes = lanes_of(isa);
  const auto blocks = [&](Index channels) { return (channels + lanes - 1) / lanes; };
  const Index in_rows = (s.rows_out - 1) * s.row_stride + s.kernel_rows;
  const Index in_columns = (s.columns_out - 1) * s.column_stride + s.kernel_columns;
  const Index unit = s.plain_input ? 1 : lanes;
  const Index in_channels = s.depthwise ? s.channels_out : s.channels_in;
  const Index in_blocks = s.plain_input ? in_channels : blocks(in_channels);
  const Index out_blocks = blocks(s.channels_out);
  const Aligned in(in_blocks * in_rows * in_columns * unit);
  const Aligned out(out_blocks * s.rows_out * s.columns_out * lanes), bias(out_blocks * lanes);
  const optimized::BlockedImage input{in.get(), unit, in_columns * unit,
                                      in_rows * in_columns * unit};
  const optimized::BlockedImage output{out.get(), lanes, s.columns_out * lanes,
                                       s.rows_out * s.columns_out * lanes};
  const Index summed = s.kernel_rows * s.kernel_columns * (s.depthwise ? 1 : s.channels_in);
  const std::vector<float> weights(static_cast<std::size_t>(s.channels_out * summed), 0.5F);

  const optimized::Convolution convolution(isa, s, algorithm);
  const Aligned packed(convolution.packed_size()), scratch(convolution.scratch_size());
  convolution.pack(weights.data(), packed.get());
  const auto run = [&] {
    const Index step = convolution.rows_at_once();
    for (Index first = 0; first < s.rows_out; first += step) {
      for (Index part = 0; part < convolution.parts(); ++part) {
        convolution.run(input, {packed.get(), weights.data()}, bias.get(), nullptr, output, 0,
                        std::numeric_limits<float>::infinity(), part, first,
                        std::min(step, s.rows_out - first), scratch.get());
      }
    }
  };
  run();
  // Takes the median of the quotients of neighboring runs, which cancels drift of the machine's
  // speed.
  std::vector<double> shares;
  double best = std::numeric_limits<double>::infinity();
  const double operations =
      2.0 * static_cast<double>(s.rows_out * s.columns_out * s.channels_out * summed);
  const double begin = bench::seconds();
  while (shares.size() < 400 && (shares.size() < 9 || bench::seconds() - begin < 0.3)) {
    const double ideal = operations / bench::roof(isa), start = bench::seconds();
    run();
    const double taken = bench::seconds() - start;
    shares.push_back(ideal / taken);
    best = std::min(best, taken);
  }
  const auto middle = shares.begin() + static_cast<std::ptrdiff_t>(shares.size() / 2);
  std::nth_element(shares.begin(), middle, shares.end());
  std::printf("%-34s %9.3f ms %7.1f GFLOP/s %5.0f %% of the roof  rows %lld  %s\n", row.name,
              best * 1e3, operations / best / 1e9, *middle * 100,
              static_cast<long long>(convolution.rows_at_once()),
              convolution.kernels_chosen().c_str());
}

}  // namespace

int main(int count, char** words) {
  const optimized::Isa isa = optimized::chosen_isa();
  for (const Row& row : rows) {
    if (count > 1 && !std::strstr(row.name, words[1])) continue;
    if (optimized::Convolution(isa, row.shape).scratch_size() > 0) {
      measure(isa, row, optimized::ConvolutionAlgorithm::direct);
      measure(isa, row, optimized::ConvolutionAlgorithm::winograd2);
      measure(isa, row, optimized::ConvolutionAlgorithm::winograd4);
    }
    measure(isa, row, optimized::ConvolutionAlgorithm::best);
  }
}
