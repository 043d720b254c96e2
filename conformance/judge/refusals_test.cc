// Plausible wrong answers at realistic sizes: the judge refuses each by default, and accepts the
// faithful computation.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <random>

#include "conformance/judge/judge.h"
#include "core/numbers/convert.h"
#include "model/model.h"

namespace touchstone::judge {
namespace {

using Floats = std::vector<float>;
using Rounding = std::function<float(float)>;

float kept(float x) { return x; }

float rounded_to(float x, int dropped_bits) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t lsb = bits >> dropped_bits & 1, half = (1U << (dropped_bits - 1)) - 1 + lsb;
  return std::bit_cast<float>((bits + half) >> dropped_bits << dropped_bits);
}
float to_tf32(float x) { return rounded_to(x, 13); }
float to_bf16(float x) { return rounded_to(x, 16); }
float to_half(float x) {
  Tensor one(Type::float16, {1});
  set_number(one, 0, x);
  return static_cast<float>(number_at(one, 0));
}

Floats normals(Index count, unsigned seed, float mean = 0, const Rounding& rounding = kept) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  Floats out(static_cast<std::size_t>(count));
  for (float& x : out) x = rounding(mean + normal(random));
  return out;
}

Tensor tensor(const Floats& values, Shape shape, Type type = Type::float32) {
  Tensor out(type, std::move(shape));
  for (Index k = 0; k < out.size(); ++k) set_number(out, k, values[static_cast<std::size_t>(k)]);
  return out;
}

struct Asked {
  Node node;
  std::vector<Value> inputs;

  Asked(const std::string& op, Index opset, std::vector<Value> given,
        std::map<std::string, Attribute> attributes = {})
      : inputs(std::move(given)) {
    node.op = op;
    node.signature = find_signature("", op, opset);
    for (std::size_t k = 0; k < inputs.size(); ++k) node.inputs.push_back("i" + std::to_string(k));
    node.outputs = {"y"};
    node.attributes = std::move(attributes);
  }
  NodeJudgement judge(const Floats& answer, Shape shape, Type type = Type::float32) const {
    return judge_node(node, inputs, {tensor(answer, std::move(shape), type)});
  }
};

#define ACCEPTED(judgement)                                                 \
  do {                                                                      \
    const NodeJudgement j = judgement;                                      \
    EXPECT_TRUE(is_pass(j.verdict)) << name(j.verdict) << ": " << j.detail; \
  } while (false)
#define REFUSED(judgement)                                                                 \
  do {                                                                                     \
    const NodeJudgement j = judgement;                                                     \
    const Comparison& c = j.outputs[0];                                                    \
    EXPECT_EQ(name(j.verdict), "wrong-value")                                              \
        << (j.cls == Class::strict ? "strict" : "fast") << " " << j.formula << ", judged " \
        << c.judged << ", open " << c.open << ", utilisation " << c.utilisation_max        \
        << ", aggregate " << c.aggregate << ", resolution " << c.resolution_median;        \
  } while (false)

Floats mapped(Floats values, const Rounding& f) {
  for (float& x : values) x = f(x);
  return values;
}

// -- LayerNormalization ---------------------------------------------------------------------------
constexpr Index rows = 16, columns = 768;

Asked layer_norm(const Floats& x) {
  Attribute epsilon;
  epsilon.is = 1e-5F;
  return {"LayerNormalization",
          17,
          {tensor(x, {rows, columns}), tensor(Floats(columns, 1), {columns})},
          {{"epsilon", epsilon}}};
}

Floats normalised(const Floats& x, float epsilon, Index divisor = columns) {
  Floats y(x.size());
  for (Index r = 0; r < rows; ++r) {
    const float* from = x.data() + r * columns;
    float sum = 0, squares = 0;
    for (Index c = 0; c < columns; ++c) sum += from[c];
    const float mean = sum / columns;
    for (Index c = 0; c < columns; ++c) squares += (from[c] - mean) * (from[c] - mean);
    const float scale = 1 / std::sqrt(squares / static_cast<float>(divisor) + epsilon);
    for (Index c = 0; c < columns; ++c)
      y[static_cast<std::size_t>(r * columns + c)] = (from[c] - mean) * scale;
  }
  return y;
}

TEST(Refusals, LayerNormalizationFarFromZero) {
  for (const float mean : {30.0F, 100.0F, 1000.0F}) {
    SCOPED_TRACE(mean);
    const Floats x = normals(rows * columns, 1, mean), y = normalised(x, 1e-5F);
    const Asked asked = layer_norm(x);
    const Shape shape{rows, columns};
    ACCEPTED(asked.judge(y, shape));
    REFUSED(asked.judge(Floats(y.size(), NAN), shape));
    REFUSED(asked.judge(Floats(y.size(), 0), shape));
    REFUSED(asked.judge(x, shape));
    REFUSED(asked.judge(mapped(y, [](float v) { return 2 * v; }), shape));
    // At 30 a faithful one-pass computation (an alternative formula) is off by up to 0.00096 in a
    // whole row. At 1000 the mean alone may be off by as much as such an answer is.
    if (mean == 100) REFUSED(asked.judge(mapped(y, [](float v) { return 1.001F * v; }), shape));
  }
}

TEST(Refusals, LayerNormalizationWithAnotherEpsilonOrDivisor) {
  const Floats x = normals(rows * columns, 2);
  const Shape shape{rows, columns};
  ACCEPTED(layer_norm(x).judge(normalised(x, 1e-5F), shape));
  REFUSED(layer_norm(x).judge(normalised(x, 0), shape));
  REFUSED(layer_norm(x).judge(normalised(x, 1e-6F), shape));
  const Floats far = normals(rows * columns, 3, 100);
  ACCEPTED(layer_norm(far).judge(normalised(far, 1e-5F), shape));
  REFUSED(layer_norm(far).judge(normalised(far, 1e-5F, columns - 1), shape));
}

// -- MatMul ---------------------------------------------------------------------------------------
Floats multiplied(const Floats& a, const Floats& b, Index m, Index k, Index n) {
  Floats y(static_cast<std::size_t>(m * n));
  for (Index i = 0; i < m; ++i) {
    for (Index t = 0; t < k; ++t) {
      const float x = a[static_cast<std::size_t>(i * k + t)];
      const float* row = b.data() + t * n;
      float* out = y.data() + i * n;
      for (Index j = 0; j < n; ++j) out[j] += x * row[j];
    }
  }
  return y;
}

// 16-bit products with sums in float32 are faithful, at any length.
TEST(Refusals, MatMulOfSixteenBits) {
  for (const Type type : {Type::bfloat16, Type::float16}) {
    const Rounding rounding = type == Type::bfloat16 ? to_bf16 : to_half;
    for (const Index depth : {768, 4096, 16384}) {
      SCOPED_TRACE(std::string(touchstone::name(type)) + ", " + std::to_string(depth));
      const Floats a = normals(8 * depth, 4, 0, rounding), b = normals(depth * 16, 5, 0, rounding);
      const Asked asked("MatMul", 13, {tensor(a, {8, depth}, type), tensor(b, {depth, 16}, type)});
      const Floats y = multiplied(a, b, 8, depth, 16);
      const Shape shape{8, 16};
      ACCEPTED(asked.judge(y, shape, type));
      REFUSED(asked.judge(Floats(y.size(), NAN), shape, type));
      REFUSED(asked.judge(Floats(y.size(), 0), shape, type));
      REFUSED(asked.judge(mapped(y, [](float v) { return 2 * v; }), shape, type));
    }
  }
}

TEST(Refusals, MatMulThatAddsUpInFloat16) {
  const Index depth = 1024;
  const Floats a = normals(8 * depth, 6, 0, to_half), b = normals(depth * 16, 7, 0, to_half);
  Floats y;
  for (Index i = 0; i < 8; ++i) {
    for (Index j = 0; j < 16; ++j) {
      float sum = 0;
      for (Index t = 0; t < depth; ++t)
        sum = to_half(sum + a[static_cast<std::size_t>(i * depth + t)] *
                                b[static_cast<std::size_t>(t * 16 + j)]);
      y.push_back(sum);
    }
  }
  const Asked asked("MatMul", 13,
                    {tensor(a, {8, depth}, Type::float16), tensor(b, {depth, 16}, Type::float16)});
  REFUSED(asked.judge(y, {8, 16}, Type::float16));
}

TEST(Refusals, LongMatMulOfNothing) {
  const Index depth = 14336;
  const Floats a = normals(8 * depth, 8), b = normals(depth * 16, 9);
  const Asked asked("MatMul", 13, {tensor(a, {8, depth}), tensor(b, {depth, 16})});
  ACCEPTED(asked.judge(multiplied(a, b, 8, depth, 16), {8, 16}));
  REFUSED(asked.judge(Floats(128, NAN), {8, 16}));
  REFUSED(asked.judge(Floats(128, 0), {8, 16}));
}

// Past ten million multiply-adds a sample is judged.
TEST(Refusals, LargeMatMulOfRoundedOperands) {
  struct Size {
    Index m, k, n;
    Rounding rounding;
  };
  for (const Size& s : {Size{128, 3072, 768, to_tf32}, Size{32, 11008, 64, to_bf16},
                        Size{32, 11008, 64, to_tf32}}) {
    SCOPED_TRACE(s.k);
    const Floats a = normals(s.m * s.k, 10), b = normals(s.k * s.n, 11);
    const Asked asked("MatMul", 13, {tensor(a, {s.m, s.k}), tensor(b, {s.k, s.n})});
    Floats y = multiplied(a, b, s.m, s.k, s.n);
    const NodeJudgement fine = asked.judge(y, {s.m, s.n});
    ACCEPTED(fine);
    EXPECT_TRUE(fine.sampled);
    REFUSED(asked.judge(multiplied(mapped(a, s.rounding), mapped(b, s.rounding), s.m, s.k, s.n),
                        {s.m, s.n}));
    y[1234] = NAN;
    REFUSED(asked.judge(y, {s.m, s.n}));
    y[1234] = INFINITY;
    REFUSED(asked.judge(y, {s.m, s.n}));
  }
}

// -- Conv, as the last one of ResNet-50 -----------------------------------------------------------
TEST(Refusals, LargeConvolutionOfRoundedOperands) {
  const Index channels = 512, side = 7;
  Attribute pads;
  pads.is = std::vector<Index>{1, 1, 1, 1};
  const Floats x = normals(channels * side * side, 12), w = normals(channels * channels * 9, 13);
  const Asked asked("Conv", 11,
                    {tensor(x, {1, channels, side, side}), tensor(w, {channels, channels, 3, 3})},
                    {{"pads", pads}});
  const auto convolved = [&](const Floats& in, const Floats& weights) {
    Floats y(static_cast<std::size_t>(channels * side * side));
    for (Index o = 0; o < channels; ++o) {
      for (Index c = 0; c < channels; ++c) {
        for (Index tap = 0; tap < 9; ++tap) {
          const float weight = weights[static_cast<std::size_t>((o * channels + c) * 9 + tap)];
          const Index down = tap / 3 - 1, right = tap % 3 - 1;
          for (Index r = std::max<Index>(0, -down); r < std::min(side, side - down); ++r) {
            for (Index q = std::max<Index>(0, -right); q < std::min(side, side - right); ++q)
              y[static_cast<std::size_t>((o * side + r) * side + q)] +=
                  weight * in[static_cast<std::size_t>((c * side + r + down) * side + q + right)];
          }
        }
      }
    }
    return y;
  };
  const Shape shape{1, channels, side, side};
  Floats y = convolved(x, w);
  ACCEPTED(asked.judge(y, shape));
  REFUSED(asked.judge(convolved(mapped(x, to_tf32), mapped(w, to_tf32)), shape));
  y[4321] = NAN;
  REFUSED(asked.judge(y, shape));
}

TEST(Refusals, MeanDividedByOneTooMany) {
  const Index channels = 128, side = 64, points = side * side;
  for (const float mean : {0.0F, 1.0F}) {
    SCOPED_TRACE(mean);
    const Floats x = normals(channels * points, 14, mean);
    const Asked asked("GlobalAveragePool", 1, {tensor(x, {1, channels, side, side})});
    const auto means = [&](Index divisor) {
      Floats y;
      for (Index c = 0; c < channels; ++c) {
        float sum = 0;
        for (Index p = 0; p < points; ++p) sum += x[static_cast<std::size_t>(c * points + p)];
        y.push_back(sum / static_cast<float>(divisor));
      }
      return y;
    };
    const Shape shape{1, channels, 1, 1};
    ACCEPTED(asked.judge(means(points), shape));
    REFUSED(asked.judge(means(points + 1), shape));
  }
}

// -- zeros ---------------------------------------------------------------------------------------
// Data movement keeps the sign of a zero; a computed zero may have either sign.
TEST(Refusals, AMovedZeroOfTheOtherSign) {
  const Asked moved("Identity", 13, {tensor({0, 1}, {2})});
  ACCEPTED(moved.judge({0, 1}, {2}));
  REFUSED(moved.judge({-0.0F, 1}, {2}));
  const Asked chosen("Max", 12, {tensor({0, 1}, {2}), tensor({0, 0}, {2})});
  ACCEPTED(chosen.judge({-0.0F, 1}, {2}));
}

// -- open questions -------------------------------------------------------------------------------
// Q043: any of the updates of one element is right, and nothing else.
TEST(Refusals, ScatterOfAnUpdateThatNobodyGave) {
  const auto indices = [](Shape shape) {
    return tensor({1, 1, 1, 0}, std::move(shape), Type::int64);
  };
  const Floats data{0, 0, 0}, updates{5, 6, 7, 8};
  const std::vector<Asked> all{
      {"ScatterElements", 13, {tensor(data, {3}), indices({4}), tensor(updates, {4})}},
      {"Scatter", 9, {tensor(data, {3}), indices({4}), tensor(updates, {4})}},
      {"ScatterND", 16, {tensor(data, {3}), indices({4, 1}), tensor(updates, {4})}}};
  for (const Asked& asked : all) {
    SCOPED_TRACE(asked.node.op);
    EXPECT_EQ(asked.judge({8, 7, 0}, {3}).verdict, Verdict::exact);
    for (const float kept : {5.0F, 6.0F}) {
      const NodeJudgement first = asked.judge({8, kept, 0}, {3});
      EXPECT_EQ(first.verdict, Verdict::profile) << first.detail;
      EXPECT_EQ(first.question, "Q043");
    }
    REFUSED(asked.judge({8, 8, 0}, {3}));
    REFUSED(asked.judge({8, 6, 1}, {3}));
    REFUSED(asked.judge({7, 6, 0}, {3}));
  }
}

Asked pool(const std::string& op, Index opset, Tensor x, Index kernel, Index pad,
           Index counted = 0) {
  std::map<std::string, Attribute> attributes;
  attributes["kernel_shape"].is = std::vector<Index>{kernel};
  attributes["pads"].is = std::vector<Index>{pad, pad};
  if (op == "AveragePool") attributes["count_include_pad"].is = counted;
  return {op, opset, {std::move(x)}, std::move(attributes)};
}

void expect_open(const NodeJudgement& found) {
  EXPECT_EQ(found.verdict, Verdict::profile) << found.detail;
  EXPECT_EQ(found.question, "Q024");
  EXPECT_EQ(found.outputs[0].open, 2);
}

// Q024: a window of padding alone may have any result; all others are judged normally.
TEST(Refusals, PoolsOfPadding) {
  const Shape shape{1, 1, 4};
  const Asked mean = pool("AveragePool", 11, tensor({1, 2}, {1, 1, 2}), 1, 1);
  const Asked largest = pool("MaxPool", 12, tensor({1, 2}, {1, 1, 2}), 1, 1);
  ACCEPTED(mean.judge({NAN, 1, 2, NAN}, shape));
  ACCEPTED(largest.judge({-INFINITY, 1, 2, -INFINITY}, shape));
  for (const Asked& asked : {mean, largest}) {
    SCOPED_TRACE(asked.node.op);
    expect_open(asked.judge({0, 1, 2, 7}, shape));
    REFUSED(asked.judge({0, 1, 1, 7}, shape));
    REFUSED(asked.judge({0, 7, 2, 0}, shape));
  }
  // Padding that counts gives a mean of 0.
  const Asked counted = pool("AveragePool", 11, tensor({1, 2}, {1, 1, 2}), 1, 1, 1);
  ACCEPTED(counted.judge({0, 1, 2, 0}, shape));
  REFUSED(counted.judge({3, 1, 2, 0}, shape));
  // The other elements may be rounded, within their bounds.
  const Asked rounded = pool("AveragePool", 11, tensor({0.1F, 0.2F, 0.4F}, {1, 1, 3}), 3, 3);
  const float near = std::nextafter(0.7F / 3, 1.0F), far = 0.7F / 3 + 1e-6F;
  expect_open(rounded.judge({0, 0.1F, 0.15F, near, 0.3F, 0.4F, 0}, {1, 1, 7}));
  REFUSED(rounded.judge({0, 0.1F, 0.15F, far, 0.3F, 0.4F, 0}, {1, 1, 7}));
  const Asked bytes = pool("MaxPool", 12, tensor({-128, 2}, {1, 1, 2}, Type::int8), 1, 1);
  expect_open(bytes.judge({0, -128, 2, 5}, shape, Type::int8));
  REFUSED(bytes.judge({0, 0, 2, 5}, shape, Type::int8));
}

// The index for an empty window is open too; that of an element is not.
TEST(Refusals, IndicesOfPoolsOfPadding) {
  Asked asked = pool("MaxPool", 12, tensor({1, 2}, {1, 1, 2}), 1, 1);
  asked.node.outputs = {"y", "at"};
  const Shape shape{1, 1, 4};
  const auto judge = [&](const Floats& y, const Floats& at) {
    return judge_node(asked.node, asked.inputs, {tensor(y, shape), tensor(at, shape, Type::int64)});
  };
  expect_open(judge({0, 1, 2, 0}, {-1, 0, 1, 9}));
  EXPECT_TRUE(is_fail(judge({0, 1, 2, 0}, {-1, 1, 1, 9}).verdict));
}

// A faithful erf of 10 may be just below 1, so it truncates to 0 or 1; nothing else does.
TEST(Refusals, IntegersComputedInReals) {
  const Asked erf("Erf", 9, {tensor({10, 1, -7}, {3}, Type::int32)});
  ACCEPTED(erf.judge({1, 0, -1}, {3}, Type::int32));
  ACCEPTED(erf.judge({0, 0, 0}, {3}, Type::int32));
  REFUSED(erf.judge({2, 0, -1}, {3}, Type::int32));
  REFUSED(erf.judge({1, 1, -1}, {3}, Type::int32));
  REFUSED(erf.judge({1, 0, 1}, {3}, Type::int32));
  const Asked resize("Resize", 13,
                     {tensor({0, 255}, {2}, Type::uint8), Value(), tensor({2}, {1}, Type::float32)},
                     {{"mode", Attribute{std::string("linear")}}});
  ACCEPTED(resize.judge({0, 64, 191, 255}, {4}, Type::uint8));
  REFUSED(resize.judge({0, 63, 191, 255}, {4}, Type::uint8));
}

// An integer past the range of its type keeps its low bits. Next to the end of 64 bits a faithful
// real may be on either side.
TEST(Refusals, IntegersPastTheirRange) {
  const Asked narrow("Shrink", 9, {tensor({250}, {1}, Type::uint8)}, {{"bias", Attribute{-10.0F}}});
  ACCEPTED(narrow.judge({4}, {1}, Type::uint8));
  REFUSED(narrow.judge({255}, {1}, Type::uint8));
  Tensor most(Type::int64, {1});
  most.data<std::int64_t>()[0] = std::numeric_limits<std::int64_t>::max();
  const Asked wide("Shrink", 9, {most}, {{"bias", Attribute{-1.0F}}});
  ACCEPTED(wide.judge({-0x1p63F}, {1}, Type::int64));
  ACCEPTED(wide.judge({0x1.fffffep62F}, {1}, Type::int64));
  REFUSED(wide.judge({0}, {1}, Type::int64));
  REFUSED(wide.judge({0x1p62F}, {1}, Type::int64));
}

}  // namespace
}  // namespace touchstone::judge
