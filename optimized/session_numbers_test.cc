// Tests NaN, infinities and intermediate overflow in Winograd and narrow convolutions. A result
// must be NaN, infinite or finite exactly where the definition's is.
#include <gmock/gmock.h>
#include "optimized/registry/isa.h"

#include "optimized/testing.h"

namespace touchstone::optimized {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float huge = 3e38F;

struct Place {
  Index image, channel, row, column;
};
float& at(Tensor& x, const Place& p) {
  const Shape& s = x.shape();
  return x.data<float>()[((p.image * s[1] + p.channel) * s[2] + p.row) * s[3] + p.column];
}

using Planted = std::vector<std::pair<Place, float>>;

std::string one_convolution(const Shape& x, const Shape& weights, Index pad, bool followed,
                            const Planted& numbers) {
  Net net(x);
  net.plant = [&](Tensor& fed) {
    for (const auto& [place, number] : numbers) at(fed, place) = number;
  };
  net.overflows = std::any_of(numbers.begin(), numbers.end(),
                              [](const auto& planted) { return std::abs(planted.second) == huge; });
  const std::string y = net.convolution("x", weights, {{"pads", {pad, pad, pad, pad}}});
  net.output(followed ? net.node("Relu", {net.node("Add", {y, "x"})}) : y);
  return net.check();
}

// Special values where they are read once, twice and in a halo, alone and next to values with which
// they make a NaN.
const std::vector<Planted> specials{{{{0, 5, 6, 7}, nan}},
                                    {{{0, 0, 0, 0}, nan}, {{1, 9, 13, 13}, nan}},
                                    {{{0, 5, 6, 7}, infinity}},
                                    {{{1, 5, 3, 4}, -infinity}},
                                    {{{0, 5, 6, 7}, infinity}, {{0, 5, 6, 8}, -infinity}},
                                    {{{0, 5, 6, 7}, infinity}, {{0, 6, 7, 7}, infinity}},
                                    {{{1, 5, 6, 7}, 1e35F}}};

TEST(Numbers, ThroughWinogradAsTheDefinitionSays) {
  std::vector<Planted> all = specials;
  all.push_back({{{0, 5, 6, 7}, huge}});
  all.push_back({{{0, 5, 6, 7}, huge}, {{0, 6, 6, 7}, -huge}, {{0, 6, 6, 8}, huge}});
  bool followed = false;
  for (const Planted& numbers : all) {
    const std::string kernels =
        one_convolution({2, 32, 14, 28}, {32, 32, 3, 3}, 1, followed = !followed, numbers);
    EXPECT_EQ(kernels.find("winograd") != std::string::npos, chosen_isa() != Isa::sse41) << kernels;
  }
}

// An infinite or NaN weight of a transposed convolution reaches no point outside of the image.
TEST(Numbers, InWeightsOfTransposedConvolutions) {
  for (const float special : {0.5F, infinity, -infinity, nan}) {
    for (const Index stride : {1, 2}) {
      Net net({1, 16, 5, 6});
      const std::string weights = net.constant({16, 16, 3, 3});
      net.held(weights).data<float>()[40] = special;
      net.output(net.node("ConvTranspose", {"x", weights}, {{"strides", {stride, stride}}}));
      const std::string kernels = net.check();
      EXPECT_EQ(kernels.find("by products") != std::string::npos, special != 0.5F) << kernels;
    }
  }
}

// A NaN must reach the windows around it, in every channel, and nothing else.
TEST(Numbers, ANaNReachesItsWindowsAlone) {
  Net net({1, 64, 28, 28});
  net.output(net.convolution("x", {64, 64, 3, 3}, padded));
  Tensor x = whole({1, 64, 28, 28}, 7);
  at(x, {0, 17, 11, 12}) = nan;
  for (const Index threads : {1, 2}) {
    Session session(net.model(), {.threads = threads});
    const std::map<std::string, Value> made = session.run({{"x", x}});
    const Tensor& y = made.at("v0").tensor();
    const auto count = std::count_if(y.data<float>(), y.data<float>() + y.size(),
                                     [](float v) { return !std::isfinite(v); });
    EXPECT_EQ(count, 9 * 64);
  }
}

TEST(Numbers, ThroughPointsThatShareAVector) {
  for (const Planted& numbers : specials) {
    const std::string kernels = one_convolution({2, 24, 14, 44}, {3, 24, 5, 5}, 2, false, numbers);
    EXPECT_THAT(kernels, ::testing::HasSubstr("narrow")) << kernels;
  }
}

TEST(Numbers, WeightsThatAreNotFinite) {
  for (const float weight : {nan, infinity, huge}) {
    Net net({1, 32, 14, 28});
    net.overflows = weight == huge;
    const std::string w = net.constant({32, 32, 3, 3});
    net.held(w).data<float>()[4000] = weight;
    net.output(net.node("Conv", {"x", w}, padded));
    net.check();
  }
}

// Factors of which two overflow, in another order than the definition's.
TEST(Numbers, ElementwiseOperationsKeepTheirOrder) {
  const float largest = std::numeric_limits<float>::max();
  for (const std::string op : {"Gelu", "Mish", "Swish", "SwiGLU"}) {
    SCOPED_TRACE(op);
    Net net({64});
    net.opset(28);
    net.overflows = true;
    net.plant = [&](Tensor& fed) {
      const std::vector<float> numbers{-2, largest, -largest, 2, 1e-30F, -0.5F, huge, -80};
      for (Index k = 0; k < fed.size(); ++k)
        fed.data<float>()[k] = numbers[static_cast<std::size_t>(k) % numbers.size()];
    };
    std::vector<std::string> inputs{"x"};
    if (op == "SwiGLU") {
      Tensor beside(Type::float32, {64});
      std::fill_n(beside.data<float>(), 64, largest);
      inputs.push_back(net.held(std::move(beside)));
    }
    net.output(net.node(op, inputs));
    net.check();
  }
}

// Sums along one axis overflow, and their infinities meet weights below zero along the other.
TEST(Numbers, CubicResizeOfTheLargest) {
  constexpr float largest = std::numeric_limits<float>::max();
  for (const float share : {1.0F, 0.9F}) {
    Net net({2, 2});
    net.overflows = true;
    net.plant = [&](Tensor& fed) {
      for (Index k = 0; k < fed.size(); ++k)
        fed.data<float>()[k] = share * (k % 3 == 0 ? largest : -largest);
    };
    const std::string y = net.node("Resize", {"x", "", net.reals({2, 2})});
    net.words("mode", "cubic");
    net.output(y);
    net.check();
  }
}

// Reciprocal tells -0 from 0, which comparisons do not.
TEST(Numbers, NegKeepsTheSignOfZero) {
  for (const Shape& shape : {Shape{40}, Shape{1}, Shape{}}) {
    Net net(shape);
    net.plant = [](Tensor& fed) {
      for (Index k = 0; k < fed.size(); ++k) fed.data<float>()[k] = k % 3 == 2 ? -0.0F : 0.0F;
    };
    net.output(net.node("Reciprocal", {net.node("Neg", {"x"})}));
    net.check();
  }
}

}  // namespace
}  // namespace touchstone::optimized
