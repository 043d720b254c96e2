// The alternative formulas that entries list under `also:`. They define the same values as the
// first formula. The judge accepts them in class fast, and refuses them in class strict if they
// lose more precision.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <random>

#include "conformance/judge/judge.h"
#include "model/schema.h"
#include "reference/interpreter.h"
#include "reference/semantics/extended_call.h"

namespace touchstone {
namespace {

Tensor floats(Shape shape, unsigned seed, float mean = 0, float least = -100) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(mean, 1);
  Tensor t(Type::float32, std::move(shape));
  for (Index k = 0; k < t.size(); ++k) t.data<float>()[k] = std::max(normal(random), least);
  return t;
}

Tensor wholes(Shape shape, unsigned seed, float mean = 0) {
  Tensor t = floats(std::move(shape), seed, mean, mean - 2);
  for (Index k = 0; k < t.size(); ++k) t.data<float>()[k] = std::nearbyint(4 * t.data<float>()[k]);
  return t;
}

struct Sample {
  std::vector<Value> inputs;
  std::map<std::string, Attribute> attributes;
};

Attribute number(Index x) {
  Attribute a;
  a.is = x;
  return a;
}

Tensor whole(Index x) {
  Tensor t(Type::int64, Shape{});
  *t.data<std::int64_t>() = x;
  return t;
}

// Sample inputs for each operator with alternative formulas; its versions use the same ones.
const std::multimap<std::string, std::function<Sample(const Signature&)>>& samples() {
  static const std::multimap<std::string, std::function<Sample(const Signature&)>> all = {
      {"BatchNormalization",
       [](const Signature& s) {
         Sample out{{floats({2, 3, 4}, 1), floats({3}, 2), floats({3}, 3), floats({3}, 4),
                     floats({3}, 5, 2, 0.25F)},
                    {}};
         if (s.since < 7) out.attributes["is_test"] = number(1);
         return out;
       }},
      {"GRU",
       [](const Signature&) {
         return Sample{{floats({3, 2, 2}, 1), floats({1, 9, 2}, 2), floats({1, 9, 3}, 3)},
                       {{"hidden_size", number(3)}}};
       }},
      {"Gemm",
       [](const Signature&) {
         Attribute alpha;
         alpha.is = 0.75F;
         return Sample{{floats({3, 4}, 1), floats({4, 2}, 2), floats({3, 2}, 3)},
                       {{"alpha", alpha}}};
       }},
      {"Normalizer",
       [](const Signature&) {
         Attribute norm;
         norm.is = std::string("L2");
         return Sample{{floats({3, 5}, 1)}, {{"norm", norm}}};
       }},
      {"HardSwish",
       [](const Signature&) {
         return Sample{{floats({64}, 1)}, {}};
       }},
      {"GroupNormalization",
       [](const Signature&) {
         return Sample{{floats({2, 4, 5}, 1, 3), floats({4}, 2), floats({4}, 3)},
                       {{"num_groups", number(2)}}};
       }},
      {"InstanceNormalization",
       [](const Signature&) {
         return Sample{{floats({2, 3, 4, 2}, 1, 3), floats({3}, 2), floats({3}, 3)}, {}};
       }},
      {"LayerNormalization",
       [](const Signature&) {
         return Sample{{floats({3, 12}, 1, 3), floats({12}, 2), floats({12}, 3)}, {}};
       }},
      {"MeanVarianceNormalization",
       [](const Signature&) {
         return Sample{{floats({2, 3, 4, 2}, 1, 3)}, {}};
       }},
      {"Conv",
       [](const Signature&) {
         Attribute pads;
         pads.is = std::vector<Index>{1, 0, 1, 2};
         // The Winograd matrices contain 1/6, which is rounded even at 237 bits. Sums of positive
         // integers have no ties and no zeros that this rounding could decide.
         return Sample{{wholes({2, 4, 6, 7}, 1, 3), wholes({6, 2, 3, 3}, 2, 3), wholes({6}, 3, 3)},
                       {{"pads", pads}, {"group", number(2)}}};
       }},
      {"Conv",
       [](const Signature&) {  // volumes, whose planes are summed as channels are
         Attribute pads, steps;
         pads.is = std::vector<Index>{1, 1, 0, 2, 1, 2};
         steps.is = std::vector<Index>{2, 1, 1};
         return Sample{
             {wholes({2, 4, 5, 4, 6}, 1, 3), wholes({4, 2, 2, 3, 3}, 2, 3)},
             {{"pads", pads}, {"strides", steps}, {"dilations", steps}, {"group", number(2)}}};
       }},
      {"AffineGrid",
       [](const Signature&) {
         Tensor size(Type::int64, {4});
         std::iota(size.data<std::int64_t>(), size.data<std::int64_t>() + 4, 2);  // [2, 3, 4, 5]
         return Sample{{floats({2, 2, 3}, 1), size}, {}};
       }},
      {"DFT",
       [](const Signature&) {
         return Sample{{floats({2, 7, 2}, 1), whole(9)}, {}};
       }},
      {"STFT",
       [](const Signature&) {
         return Sample{{floats({1, 9, 2}, 1), whole(2), floats({5}, 2)}, {{"onesided", number(0)}}};
       }},
      {"GridSample",
       [](const Signature&) {
         Attribute border;
         border.is = std::string("border");
         return Sample{{floats({2, 3, 4, 5}, 1), floats({2, 6, 3, 2}, 2)},
                       {{"padding_mode", border}}};
       }},
      {"HannWindow",
       [](const Signature&) {
         return Sample{{whole(9)}, {}};
       }},
  };
  return all;
}

template <class S>
ExtendedCall<S> call_of(const Node& node, const std::vector<Value>& inputs) {
  ExtendedCall<S> call;
  call.node = &node;
  call.signature = node.signature;
  call.inputs = inputs;
  call.wanted = {true};
  call.observed.resize(1);
  call.outputs.resize(1);
  return call;
}

// Requires the exact values of the first formula from each other one. Returns how many there are.
int check_forms(const Signature& signature, const ExtendedEntry& entry, const Sample& data) {
  Node node;
  node.op = std::string(signature.op);
  node.signature = &signature;
  for (std::size_t k = 0; k < data.inputs.size(); ++k)
    node.inputs.push_back("i" + std::to_string(k));
  node.outputs = {"o"};
  node.attributes = data.attributes;
  auto first = call_of<Exact>(node, data.inputs);
  entry.exact(first);
  EXPECT_TRUE(first.outputs[0].present) << signature.op << "-" << signature.since;
  int tried = 0;
  for (const ExtendedForm& form : entry.also) {
    auto other = call_of<Exact>(node, data.inputs);
    form.exact(other);
    EXPECT_EQ(first.outputs[0].values.size(), other.outputs[0].values.size());
    if (first.outputs[0].values.size() != other.outputs[0].values.size()) continue;
    for (std::size_t k = 0; k < first.outputs[0].values.size(); ++k) {
      EXPECT_EQ(first.outputs[0].values[k].hi(), other.outputs[0].values[k].hi())
          << signature.op << "-" << signature.since << " " << form.name << " at " << k;
    }
    ++tried;
  }
  return tried;
}

TEST(AlsoForms, SayTheSameNumbersAsTheFirst) {
  int tried = 0;
  for (const Signature& signature : all_signatures()) {
    const ExtendedEntry* entry = find_extended(signature);
    if (!entry || entry->also.empty()) continue;
    const auto [begin, end] = samples().equal_range(std::string(signature.op));
    ASSERT_NE(begin, end) << signature.op << " has forms that are also right, but no sample here";
    for (auto sample = begin; sample != end; ++sample)
      tried += check_forms(signature, *entry, sample->second(signature));
  }
  EXPECT_GT(tried, 0);
}

// A folded channel far from zero loses the digits that its mean and its offset have in common.
TEST(AlsoForms, AFoldedNormalisationIsRightInClassFastAlone) {
  Node node;
  node.op = "BatchNormalization";
  node.signature = find_signature("", node.op, 15);
  node.inputs = {"x", "scale", "b", "mean", "var"};
  node.outputs = {"y"};
  const Tensor x = floats({1, 1, 64}, 6, 1000), scale = floats({1}, 7, 2), b = floats({1}, 8),
               mean = floats({1}, 9, 1000), var = floats({1}, 10, 1, 0.5F);
  const float factor = scale.data<float>()[0] / std::sqrt(var.data<float>()[0] + 1e-5F);
  const float offset = b.data<float>()[0] - mean.data<float>()[0] * factor;
  Tensor y(Type::float32, {1, 1, 64});
  for (Index k = 0; k < 64; ++k) y.data<float>()[k] = x.data<float>()[k] * factor + offset;
  const judge::NodeJudgement fast = judge::judge_node(node, {x, scale, b, mean, var}, {y});
  EXPECT_EQ(fast.verdict, judge::Verdict::within) << fast.detail;
  EXPECT_EQ(fast.cls, Class::fast);
  judge::JudgeOptions strict;
  strict.then_fast = false;
  EXPECT_EQ(judge::judge_node(node, {x, scale, b, mean, var}, {y}, strict).verdict,
            judge::Verdict::wrong_value);
  y.data<float>()[5] += 0.01F;
  EXPECT_EQ(judge::judge_node(node, {x, scale, b, mean, var}, {y}).verdict,
            judge::Verdict::wrong_value);
}

using Rows = std::vector<std::vector<float>>;

// The matrices of F(4 x 4, 3 x 3), and a float32 convolution with them: one image of whole tiles.
struct Lavin {
  Rows image{{4, 0, -5, 0, 1, 0},  {0, -4, -4, 1, 1, 0}, {0, 4, -4, -1, 1, 0},
             {0, -2, -1, 2, 1, 0}, {0, 2, -1, -2, 1, 0}, {0, 4, 0, -5, 0, 1}};
  Rows filter{{1 / 4.0F, 0, 0},
              {-1 / 6.0F, -1 / 6.0F, -1 / 6.0F},
              {-1 / 6.0F, 1 / 6.0F, -1 / 6.0F},
              {1 / 24.0F, 1 / 12.0F, 1 / 6.0F},
              {1 / 24.0F, -1 / 12.0F, 1 / 6.0F},
              {0, 0, 1}};
  Rows output{{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}};

  static Rows around(const Rows& m, const Rows& x) {  // m x m'
    Rows half(m.size(), std::vector<float>(x[0].size())),
        all(m.size(), std::vector<float>(m.size()));
    for (std::size_t i = 0; i < m.size(); ++i) {
      for (std::size_t j = 0; j < x[0].size(); ++j) {
        for (std::size_t k = 0; k < x.size(); ++k) half[i][j] += m[i][k] * x[k][j];
      }
    }
    for (std::size_t i = 0; i < m.size(); ++i) {
      for (std::size_t j = 0; j < m.size(); ++j) {
        for (std::size_t k = 0; k < x[0].size(); ++k) all[i][j] += half[i][k] * m[j][k];
      }
    }
    return all;
  }

  Tensor convolved(const Tensor& x, const Tensor& w) const {
    const Index channels = x.shape()[1], rows = x.shape()[2] - 2, columns = x.shape()[3] - 2;
    Tensor y(Type::float32, {1, w.shape()[0], rows, columns});
    for (Index m = 0; m < w.shape()[0]; ++m) {
      for (Index top = 0; top < rows; top += 4) {
        for (Index left = 0; left < columns; left += 4) {
          Rows sum(6, std::vector<float>(6));
          for (Index c = 0; c < channels; ++c) {
            Rows tile(6, std::vector<float>(6)), taps(3, std::vector<float>(3));
            for (std::size_t k = 0; k < 36; ++k) {
              const Index row = top + static_cast<Index>(k / 6),
                          column = left + static_cast<Index>(k % 6);
              tile[k / 6][k % 6] =
                  x.data<float>()[(c * x.shape()[2] + row) * x.shape()[3] + column];
            }
            for (std::size_t k = 0; k < 9; ++k)
              taps[k / 3][k % 3] = w.data<float>()[(m * channels + c) * 9 + static_cast<Index>(k)];
            const Rows a = around(image, tile), b = around(filter, taps);
            for (std::size_t k = 0; k < 36; ++k)
              sum[k / 6][k % 6] += a[k / 6][k % 6] * b[k / 6][k % 6];
          }
          const Rows made = around(output, sum);
          for (std::size_t k = 0; k < 16; ++k) {
            const Index row = top + static_cast<Index>(k / 4),
                        column = left + static_cast<Index>(k % 4);
            y.data<float>()[(m * rows + row) * columns + column] = made[k / 4][k % 4];
          }
        }
      }
    }
    return y;
  }
};

// Integers, whose sums of products are exact, and one large element among small ones. Either loses
// digits that the first formula keeps, also in elements that do not read the large one.
TEST(AlsoForms, WinogradsAlgorithmIsRightInClassFastAlone) {
  Node node;
  node.op = "Conv";
  node.signature = find_signature("", node.op, 11);
  node.inputs = {"x", "w"};
  node.outputs = {"y"};
  constexpr Index channels = 16;
  for (const bool large : {false, true}) {
    const auto data = [&](Shape s, unsigned seed) {
      return large ? floats(std::move(s), seed) : wholes(std::move(s), seed);
    };
    Tensor x = data({1, channels, 10, 14}, 21);
    const Tensor w = data({8, channels, 3, 3}, 22);
    if (large) x.data<float>()[3] = 1e6F;
    const Tensor y = Lavin{}.convolved(x, w);
    const judge::NodeJudgement fast = judge::judge_node(node, {x, w}, {y});
    EXPECT_EQ(fast.verdict, judge::Verdict::within) << fast.detail;
    EXPECT_TRUE(fast.formula.starts_with("winograd")) << fast.formula;
    judge::JudgeOptions strict;
    strict.then_fast = false;
    EXPECT_EQ(judge::judge_node(node, {x, w}, {y}, strict).verdict, judge::Verdict::wrong_value);
    const auto refused = [&](const Lavin& wrong) {
      const judge::NodeJudgement found = judge::judge_node(node, {x, w}, {wrong.convolved(x, w)});
      EXPECT_EQ(found.verdict, judge::Verdict::wrong_value) << found.formula;
    };
    Lavin wrong;
    wrong.image[0][2] = -5.05F;
    refused(wrong);
    wrong = {};
    wrong.filter[3][1] = 0.0842F;
    refused(wrong);
    wrong = {};
    wrong.output[3][3] = 8.08F;
    refused(wrong);
  }
}

// A tile propagates a NaN to output elements whose window does not contain it. No class allows
// that.
TEST(AlsoForms, ATileThatSpreadsANaNIsRefused) {
  Node node;
  node.op = "Conv";
  node.signature = find_signature("", node.op, 11);
  node.inputs = {"x", "w"};
  node.outputs = {"y"};
  Tensor x = floats({1, 16, 6, 10}, 23);
  const Tensor w = floats({4, 16, 3, 3}, 24);
  Tensor y = Lavin{}.convolved(x, w);
  x.data<float>()[0] = std::nanf("");
  Tensor spread = Lavin{}.convolved(x, w);
  ASSERT_TRUE(std::isnan(spread.data<float>()[27]));
  EXPECT_EQ(judge::judge_node(node, {x, w}, {spread}).verdict, judge::Verdict::wrong_value);
  for (Index m = 0; m < 4; ++m) y.data<float>()[m * 32] = std::nanf("");
  EXPECT_TRUE(judge::is_pass(judge::judge_node(node, {x, w}, {y}).verdict));
}

// In one pass, a row far from zero loses digits: those that the mean of its squares and the square
// of its mean have in common.
TEST(AlsoForms, AVarianceOfOnePassIsRightInClassFastAlone) {
  constexpr Index n = 16;
  Node node;
  node.op = "LayerNormalization";
  node.signature = find_signature("", node.op, 17);
  node.inputs = {"x", "scale"};
  node.outputs = {"y"};
  const Tensor x = floats({1, n}, 11, 60), scale = floats({n}, 12, 2);
  float sum = 0, squares = 0;
  for (Index k = 0; k < n; ++k) {
    sum += x.data<float>()[k];
    squares += x.data<float>()[k] * x.data<float>()[k];
  }
  const float mean = sum / n, deviation = std::sqrt(squares / n - mean * mean + 1e-5F);
  Tensor y(Type::float32, {1, n});
  for (Index k = 0; k < n; ++k)
    y.data<float>()[k] = (x.data<float>()[k] - mean) / deviation * scale.data<float>()[k];
  const judge::NodeJudgement fast = judge::judge_node(node, {x, scale}, {y});
  EXPECT_EQ(fast.verdict, judge::Verdict::within) << fast.detail;
  EXPECT_EQ(fast.cls, Class::fast);
  judge::JudgeOptions strict;
  strict.then_fast = false;
  EXPECT_EQ(judge::judge_node(node, {x, scale}, {y}, strict).verdict, judge::Verdict::wrong_value);
  y.data<float>()[5] += 0.1F;
  EXPECT_EQ(judge::judge_node(node, {x, scale}, {y}).verdict, judge::Verdict::wrong_value);
}

}  // namespace
}  // namespace touchstone
