// The judge on generated kernels: the outputs that it must refuse and accept, operator by operator.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "conformance/judge/judge.h"
#include "core/numbers/convert.h"
#include "reference/interpreter.h"
#include "tests/judge/nodes.h"

namespace touchstone {
namespace {

std::vector<float> normals(Index n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> x(static_cast<std::size_t>(n));
  for (float& v : x) v = normal(random);
  return x;
}

judge::Verdict verdict(const Node& node, const std::vector<Value>& inputs, const Value& answer) {
  return judge::judge_node(node, inputs, {answer}).verdict;
}

TEST(JudgeKernels, SoftmaxOffByOneInTenThousandIsRefused) {
  const Node node = node_of("Softmax", 13, 1);
  const Tensor x = floats({1, 256}, normals(256, 1));
  const Tensor y = evaluate(*node.signature, {}, {x})[0].tensor();
  EXPECT_EQ(verdict(node, {x}, y), judge::Verdict::within);
  Tensor off = floats({1, 256}, std::vector<float>(y.data<float>(), y.data<float>() + 256));
  for (Index k = 0; k < 256; ++k) off.data<float>()[k] *= 1.0001F;
  EXPECT_EQ(verdict(node, {x}, off), judge::Verdict::wrong_value);
}

TEST(JudgeKernels, AnIntegerOffByOneIsRefused) {
  const Node node = node_of("Add", 14, 2);
  Tensor a(Type::int64, {1}), b(Type::int64, {1}), sum(Type::int64, {1});
  a.data<Index>()[0] = 1999, b.data<Index>()[0] = 1, sum.data<Index>()[0] = 2000;
  EXPECT_EQ(verdict(node, {a, b}, sum), judge::Verdict::exact);
  Tensor off(Type::int64, {1});
  off.data<Index>()[0] = 2001;
  EXPECT_EQ(verdict(node, {a, b}, off), judge::Verdict::wrong_value);
}

// A sum of n products in some order.
using Order = float (*)(const float* a, const float* b, Index n, Index stride);
float forward(const float* a, const float* b, Index n, Index stride) {
  float s = 0;
  for (Index k = 0; k < n; ++k) s += a[k] * b[k * stride];
  return s;
}
float backward(const float* a, const float* b, Index n, Index stride) {
  float s = 0;
  for (Index k = n - 1; k >= 0; --k) s += a[k] * b[k * stride];
  return s;
}
float pairwise(const float* a, const float* b, Index n, Index stride) {
  if (n == 1) return a[0] * b[0];
  return pairwise(a, b, n / 2, stride) + pairwise(a + n / 2, b + n / 2 * stride, n - n / 2, stride);
}
float fused(const float* a, const float* b, Index n, Index stride) {
  float s = 0;
  for (Index k = 0; k < n; ++k) s = std::fma(a[k], b[k * stride], s);
  return s;
}
float in_lanes(const float* a, const float* b, Index n, Index stride) {
  float lanes[16] = {};
  for (Index k = 0; k < n; ++k) lanes[k % 16] += a[k] * b[k * stride];
  float s = 0;
  for (float lane : lanes) s += lane;
  return s;
}

// Inputs flushed to zero if subnormal: right in class fast for arithmetic, never for data movement.
TEST(JudgeKernels, SubnormalInputsMayBeZerosForWhatComputes) {
  const Tensor x = floats({3}, {0x1p-140F, -2, 3}), flushed = floats({3}, {0, 2, 3}),
               moved = floats({3}, {0, -2, 3});
  const Node node = node_of("Abs", 13, 1);
  const judge::NodeJudgement judged = judge::judge_node(node, {x}, {flushed});
  EXPECT_EQ(judged.verdict, judge::Verdict::exact) << judged.detail;
  EXPECT_TRUE(judged.flushed);
  EXPECT_EQ(judged.cls, Class::fast);
  judge::JudgeOptions strict;
  strict.then_fast = false;
  EXPECT_EQ(judge::judge_node(node, {x}, {flushed}, strict).verdict, judge::Verdict::wrong_value);
  EXPECT_EQ(verdict(node, {x}, floats({3}, {0, 2, 4})), judge::Verdict::wrong_value);
  EXPECT_EQ(verdict(node_of("Identity", 21, 1), {x}, moved), judge::Verdict::wrong_value);
}

Tensor doubles(Shape shape, const std::vector<double>& data) {
  Tensor t(Type::float64, std::move(shape));
  std::copy(data.begin(), data.end(), t.data<double>());
  return t;
}

// The standard stashes statistics of doubles in float32, so all of them, sums included, may be
// computed in float32.
TEST(JudgeKernels, StatisticsInTheStashTypeAreAccepted) {
  constexpr Index n = 500;
  std::vector<double> x(n), y(n);
  std::vector<float> narrow = normals(n, 3);
  float sum = 0, squares = 0;
  for (Index k = 0; k < n; ++k) {
    narrow[k] += 8;
    x[k] = narrow[k];
    sum += narrow[k];
  }
  const float mean = sum / n;
  for (const float v : narrow) squares += (v - mean) * (v - mean);
  const float inverse = 1 / std::sqrt(squares / n + 1e-5F);
  for (Index k = 0; k < n; ++k) y[k] = (narrow[k] - mean) * inverse;
  const Node node = node_of("LayerNormalization", 17, 2);
  const Tensor in = doubles({1, n}, x), scale = doubles({n}, std::vector<double>(n, 1));
  judge::JudgeOptions strict;
  strict.then_fast = false;
  const judge::NodeJudgement judged =
      judge::judge_node(node, {in, scale}, {doubles({1, n}, y)}, strict);
  EXPECT_EQ(judged.verdict, judge::Verdict::within) << judged.detail;
  y[7] += 0.1;
  EXPECT_EQ(verdict(node, {in, scale}, doubles({1, n}, y)), judge::Verdict::wrong_value);
}

// A state that is carried in float32 but output in float16: each step is judged from every state
// that rounds to the output.
TEST(JudgeKernels, AStateWiderThanWhatIsShownIsAccepted) {
  constexpr Index steps = 12, hidden = 6;
  Attribute size;
  size.is = hidden;
  const Node node = node_of("RNN", 22, 3, {{"hidden_size", size}});
  const std::vector<float> numbers = normals(steps + hidden + hidden * hidden, 4);
  Tensor x(Type::float16, {steps, 1, 1}), w(Type::float16, {1, hidden, 1}),
      r(Type::float16, {1, hidden, hidden});
  Tensor y(Type::float16, {steps, 1, 1, hidden});
  Index taken = 0;
  for (Tensor* t : {&x, &w, &r}) {
    for (Index k = 0; k < t->size(); ++k)
      set_number(*t, k, numbers[static_cast<std::size_t>(taken++)] * 0.75F);
  }
  std::vector<float> h(hidden, 0);
  for (Index t = 0; t < steps; ++t) {
    std::vector<float> next(hidden);
    for (Index j = 0; j < hidden; ++j) {
      auto drive = static_cast<float>(number_at(x, t) * number_at(w, j));
      for (Index k = 0; k < hidden; ++k)
        drive += h[k] * static_cast<float>(number_at(r, j * hidden + k));
      next[j] = std::tanh(drive);
      set_number(y, t * hidden + j, next[j]);
    }
    h = next;
  }
  EXPECT_EQ(verdict(node, {x, w, r}, y), judge::Verdict::within);
  set_number(y, 5, number_at(y, 5) + 0.1L);
  EXPECT_EQ(verdict(node, {x, w, r}, y), judge::Verdict::wrong_value);
}

// The input gate adds minus infinity, an overflow, to infinity; the output gate is 0.
TEST(JudgeKernels, AGateThatOverflowsOnTheWayMayBeNan) {
  const double most = std::numeric_limits<double>::max(), infinity = HUGE_VAL;
  const auto doubles = [](Shape shape, const std::vector<double>& data) {
    Tensor t(Type::float64, std::move(shape));
    std::copy(data.begin(), data.end(), t.data<double>());
    return t;
  };
  const Node node = node_of("LSTM", 7, 3);
  const Tensor x = doubles({1, 1, 2}, {2.5, -1}), r = doubles({1, 4, 1}, {0, 0, 0, 0}),
               w = doubles({1, 4, 2}, {-most, -infinity, -infinity, 0, 0, 0, 1, 0});
  const Tensor y = evaluate(*node.signature, {}, {x, w, r})[0].tensor();
  EXPECT_TRUE(std::isnan(y.data<double>()[0]));
  EXPECT_EQ(verdict(node, {x, w, r}, y), judge::Verdict::in_set);
  EXPECT_EQ(verdict(node, {x, w, r}, doubles({1, 1, 1, 1}, {0})), judge::Verdict::exact);
  EXPECT_EQ(verdict(node, {x, w, r}, doubles({1, 1, 1, 1}, {0.5})), judge::Verdict::wrong_value);
}

TEST(JudgeKernels, AMatrixProductInAnyOrderIsAccepted) {
  const Node node = node_of("MatMul", 13, 2);
  const std::vector<float> a = normals(32 * 128, 2), b = normals(128 * 32, 3);
  for (const Order order : {forward, backward, pairwise, fused, in_lanes}) {
    Tensor y(Type::float32, {32, 32});
    for (Index m = 0; m < 32; ++m) {
      for (Index n = 0; n < 32; ++n)
        y.data<float>()[m * 32 + n] =
            order(&a[static_cast<std::size_t>(m * 128)], &b[static_cast<std::size_t>(n)], 128, 32);
    }
    EXPECT_EQ(verdict(node, {floats({32, 128}, a), floats({128, 32}, b)}, y),
              judge::Verdict::within);
    y.data<float>()[500] += 1e-3F;
    EXPECT_EQ(verdict(node, {floats({32, 128}, a), floats({128, 32}, b)}, y),
              judge::Verdict::wrong_value);
  }
}

// Sums whose errors are a walk of one and a half times the size that is usual.
TEST(JudgeKernels, ARunningSumIsOneWalkForEachLane) {
  const Node node = node_of("CumSum", 14, 2);
  for (const Index lanes : {Index{1}, Index{63}, Index{64}}) {
    const std::vector<float> x = normals(lanes * 128, 1);
    Tensor in(Type::float32, {lanes, 128}), out(Type::float32, in.shape()), axis(Type::int64, {1});
    axis.data<Index>()[0] = -1;
    double sum = 0;
    for (Index k = 0; k < in.size(); ++k) {
      const Index place = k % 128;
      in.data<float>()[k] = 1 + std::abs(x[static_cast<std::size_t>(k)]);
      sum = (place == 0 ? 0 : sum) + in.data<float>()[k];
      const double walk = place < 8 ? 0 : 1.5 * std::sqrt(static_cast<double>(place));
      out.data<float>()[k] = static_cast<float>(sum * (1 + walk * 0x1p-24));
    }
    const bool whole = lanes >= judge::aggregate_from;
    EXPECT_EQ(verdict(node, {in, axis}, out),
              whole ? judge::Verdict::wrong_value : judge::Verdict::within)
        << lanes;
  }
}

TEST(JudgeKernels, AConvolutionThatStartsItsSumWithTheBiasIsAccepted) {
  const Node node = node_of("Conv", 22, 3);
  const std::vector<float> x = normals(3 * 8 * 8, 4), w = normals(4 * 3 * 3 * 3, 5),
                           b = normals(4, 6);
  Tensor y(Type::float32, {1, 4, 6, 6});
  for (Index m = 0; m < 4; ++m) {
    for (Index i = 0; i < 6; ++i) {
      for (Index j = 0; j < 6; ++j) {
        float s = b[static_cast<std::size_t>(m)];
        for (Index c = 0; c < 3; ++c) {
          for (Index p = 0; p < 3; ++p) {
            for (Index q = 0; q < 3; ++q) {
              s += x[static_cast<std::size_t>((c * 8 + i + p) * 8 + j + q)] *
                   w[static_cast<std::size_t>(((m * 3 + c) * 3 + p) * 3 + q)];
            }
          }
        }
        y.data<float>()[(m * 6 + i) * 6 + j] = s;
      }
    }
  }
  EXPECT_EQ(verdict(node, {floats({1, 3, 8, 8}, x), floats({4, 3, 3, 3}, w), floats({4}, b)}, y),
            judge::Verdict::within);
}

TEST(JudgeKernels, ExactDataHasNoBound) {
  const Node node = node_of("QuantizeLinear", 13, 3);
  Tensor zero(Type::uint8, {}), two(Type::uint8, {1}), three(Type::uint8, {1});
  two.data<std::uint8_t>()[0] = 2, three.data<std::uint8_t>()[0] = 3;
  const std::vector<Value> inputs = {floats({1}, {2.5F}), floats({}, {1.0F}), zero};
  EXPECT_TRUE(judge::is_pass(verdict(node, inputs, two)));
  EXPECT_EQ(verdict(node, inputs, three), judge::Verdict::wrong_value);
}

TEST(JudgeKernels, ABoundThatIsLeftOutIsTheTypesOwnAndExact) {
  const auto clipped = [](const std::vector<double>& answer, bool with_least) {
    Node node = node_of("Clip", 13, 3);
    Tensor x(Type::float64, {2}), y(Type::float64, {2}), bound(Type::float64, {});
    x.data<double>()[0] = -3, x.data<double>()[1] = 5;
    bound.data<double>()[0] = 1;
    std::copy(answer.begin(), answer.end(), y.data<double>());
    node.inputs[with_least ? 2 : 1].clear();
    return verdict(
        node, {x, with_least ? Value(bound) : Value(), with_least ? Value() : Value(bound)}, y);
  };
  EXPECT_EQ(clipped({-3, 1}, false), judge::Verdict::exact);
  EXPECT_EQ(clipped({-2, 1}, false), judge::Verdict::wrong_value);
  EXPECT_EQ(clipped({1, 5}, true), judge::Verdict::exact);
  EXPECT_EQ(clipped({1, 1.7976931348623157e308}, true), judge::Verdict::wrong_value);
}

TEST(JudgeKernels, ALongRecurrenceIsJudgedStepByStep) {
  // Unless the bound follows the target's own states, it is vacuous for 128 units after some twenty
  // steps.
  const Index steps = 100, units = 128;
  Node node = node_of("LSTM", 22, 3);
  node.attributes["hidden_size"].is = units;
  std::vector<float> w = normals(4 * units * 8, 7), r = normals(4 * units * units, 8);
  for (float& v : w) v *= 0.1F;
  for (float& v : r) v *= 0.08F;
  const std::vector<Value> inputs = {floats({steps, 1, 8}, normals(steps * 8, 9)),
                                     floats({1, 4 * units, 8}, w),
                                     floats({1, 4 * units, units}, r)};
  const Value y = evaluate(*node.signature, node.attributes, inputs)[0];
  const judge::NodeJudgement judged = judge::judge_node(node, inputs, {y});
  EXPECT_EQ(judged.verdict, judge::Verdict::within) << judged.detail;
  EXPECT_EQ(judged.outputs[0].open, 0);
  EXPECT_LT(judged.outputs[0].resolution_median, 0x1p-8);
  Tensor off = floats(
      {steps, 1, 1, units},
      std::vector<float>(y.tensor().data<float>(), y.tensor().data<float>() + steps * units));
  off.data<float>()[90 * units + 5] += 1e-2F;
  EXPECT_EQ(verdict(node, inputs, off), judge::Verdict::wrong_value);
}

}  // namespace
}  // namespace touchstone
