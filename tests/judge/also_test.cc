// The forms that entries list under `also:`: the same numbers as the first form says, allowed in class fast and refused in
// class strict where they lose more.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <random>

#include "conformance/judge/judge.h"
#include "model/schema.h"
#include "reference/interpreter.h"
#include "reference/readings/wide_call.h"

namespace touchstone {
namespace {

Tensor floats(Shape shape, unsigned seed, float mean = 0, float least = -100) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(mean, 1);
  Tensor t(Type::float32, std::move(shape));
  for (Index k = 0; k < t.size(); ++k) t.data<float>()[k] = std::max(normal(random), least);
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

// What each operator with such forms is tried on; its versions share it.
const std::map<std::string, std::function<Sample(const Signature&)>>& samples() {
  static const std::map<std::string, std::function<Sample(const Signature&)>> all = {
      {"BatchNormalization",
       [](const Signature& s) {
         Sample out{{floats({2, 3, 4}, 1), floats({3}, 2), floats({3}, 3), floats({3}, 4), floats({3}, 5, 2, 0.25F)}, {}};
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
      {"DFT", [](const Signature&) { return Sample{{floats({2, 7, 2}, 1), whole(9)}, {}}; }},
      {"STFT", [](const Signature&) { return Sample{{floats({1, 9, 2}, 1), whole(2), floats({5}, 2)}, {{"onesided", number(0)}}}; }},
      {"GridSample",
       [](const Signature&) {
         Attribute border;
         border.is = std::string("border");
         return Sample{{floats({2, 3, 4, 5}, 1), floats({2, 6, 3, 2}, 2)}, {{"padding_mode", border}}};
       }},
      {"HannWindow", [](const Signature&) { return Sample{{whole(9)}, {}}; }},
  };
  return all;
}

template <class S>
WideCall<S> call_of(const Node& node, const std::vector<Value>& inputs) {
  WideCall<S> call;
  call.node = &node;
  call.signature = node.signature;
  call.inputs = inputs;
  call.wanted = {true};
  call.observed.resize(1);
  call.outputs.resize(1);
  return call;
}

TEST(AlsoForms, SayTheSameNumbersAsTheFirst) {
  int tried = 0;
  for (const Signature& signature : all_signatures()) {
    const WideEntry* entry = find_wide(signature);
    if (!entry || entry->also.empty()) continue;
    const auto sample = samples().find(std::string(signature.op));
    ASSERT_NE(sample, samples().end()) << signature.op << " has forms that are also right, but no sample here";
    const Sample data = sample->second(signature);
    Node node;
    node.op = std::string(signature.op);
    node.signature = &signature;
    for (std::size_t k = 0; k < data.inputs.size(); ++k) node.inputs.push_back("i" + std::to_string(k));
    node.outputs = {"o"};
    node.attributes = data.attributes;
    auto first = call_of<Exact>(node, data.inputs);
    entry->exact(first);
    ASSERT_TRUE(first.outputs[0].present) << signature.op << "-" << signature.since;
    for (const WideForm& form : entry->also) {
      auto other = call_of<Exact>(node, data.inputs);
      form.exact(other);
      ASSERT_EQ(first.outputs[0].values.size(), other.outputs[0].values.size());
      for (std::size_t k = 0; k < first.outputs[0].values.size(); ++k) {
        EXPECT_EQ(first.outputs[0].values[k].hi(), other.outputs[0].values[k].hi())
            << signature.op << "-" << signature.since << " " << form.name << " at " << k;
      }
      ++tried;
    }
  }
  EXPECT_GT(tried, 0);
}

// Folded, a channel far from zero loses what its mean and its offset share.
TEST(AlsoForms, AFoldedNormalisationIsRightInClassFastAlone) {
  Node node;
  node.op = "BatchNormalization";
  node.signature = find_signature("", node.op, 15);
  node.inputs = {"x", "scale", "b", "mean", "var"};
  node.outputs = {"y"};
  const Tensor x = floats({1, 1, 64}, 6, 1000), scale = floats({1}, 7, 2), b = floats({1}, 8), mean = floats({1}, 9, 1000),
               var = floats({1}, 10, 1, 0.5F);
  const float factor = scale.data<float>()[0] / std::sqrt(var.data<float>()[0] + 1e-5F);
  const float offset = b.data<float>()[0] - mean.data<float>()[0] * factor;
  Tensor y(Type::float32, {1, 1, 64});
  for (Index k = 0; k < 64; ++k) y.data<float>()[k] = x.data<float>()[k] * factor + offset;
  const NodeJudgement fast = judge_node(node, {x, scale, b, mean, var}, {y});
  EXPECT_EQ(fast.verdict, Verdict::within) << fast.detail;
  EXPECT_EQ(fast.cls, Class::fast);
  JudgeOptions strict;
  strict.then_fast = false;
  EXPECT_EQ(judge_node(node, {x, scale, b, mean, var}, {y}, strict).verdict, Verdict::wrong_value);
  y.data<float>()[5] += 0.01F;
  EXPECT_EQ(judge_node(node, {x, scale, b, mean, var}, {y}).verdict, Verdict::wrong_value);
}

// In one pass, a row far from zero loses what the mean of its squares and the square of its mean
// share.
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
  const NodeJudgement fast = judge_node(node, {x, scale}, {y});
  EXPECT_EQ(fast.verdict, Verdict::within) << fast.detail;
  EXPECT_EQ(fast.cls, Class::fast);
  JudgeOptions strict;
  strict.then_fast = false;
  EXPECT_EQ(judge_node(node, {x, scale}, {y}, strict).verdict, Verdict::wrong_value);
  y.data<float>()[5] += 0.1F;
  EXPECT_EQ(judge_node(node, {x, scale}, {y}).verdict, Verdict::wrong_value);
}

}  // namespace
}  // namespace touchstone
