// Tests judge_node with an invented operator: the chosen semantics, the class, and the verdict
// without any.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "conformance/judge/node_means.h"
#include "core/error.h"

namespace touchstone::judge {
namespace {

// y = exp(x) * 0.1, then the index of the largest, which has no extended semantics.
template <class S>
void scaled_exp(ExtendedCall<S>& call) {
  const BoundedScope scope(Type::float32);
  const Tensor& x = call.inputs[0].tensor();
  call.outputs[0] = {x.shape(), Type::float32, true, {}, {}};
  const Index step = call.sample > 0 ? std::max<Index>(1, x.size() / call.sample) : 1;
  for (Index i = 0; i < x.size(); i += step) {
    if (step > 1) call.outputs[0].at.push_back(i);
    call.outputs[0].values.push_back(prim::exp(S::of(x.data<float>()[i])) * constant<S>(0.1F));
  }
}

void refusing(ExtendedCall<Bounded>&) { throw Error(ErrorKind::unsupported, "not this one"); }
void failing(ExtendedCall<Bounded>&) { throw Error(ErrorKind::internal, "oh"); }
void too_large(ExtendedCall<Bounded>&) { throw Error(ErrorKind::limit, "too large"); }
void forbidding(ExtendedCall<Bounded>&) { throw Error(ErrorKind::invalid_input, "a rule"); }

struct Bench {
  Node node;
  ExtendedEntry extended{nullptr, scaled_exp<Bounded>, scaled_exp<Exact>,
                         [](const ExtendedCall<Bounded>& c) {
                           return static_cast<double>(c.inputs[0].tensor().size());
                         }};
  NodeMeans means;
  std::vector<Value> inputs, observed;
  JudgeOptions options;

  explicit Bench(const std::vector<float>& x) {
    node.op = "Toy";
    node.inputs = {"x"};
    node.outputs = {"y", "best"};
    means.extended = &extended;
    Tensor in(Type::float32, {static_cast<Index>(x.size())}), out(Type::float32, in.shape()),
        best(Type::int64, {1});
    for (std::size_t k = 0; k < x.size(); ++k) {
      in.data<float>()[k] = x[k];
      out.data<float>()[k] = std::exp(x[k]) * 0.1F;
    }
    best.data<Index>()[0] = 7;
    inputs = {in};
    observed = {out, best};
    means.native = [](const std::vector<Value>&) {
      Tensor right(Type::int64, {1});
      right.data<Index>()[0] = 7;
      return std::vector<Value>{Value(), right};
    };
  }
  float& y(std::size_t k) { return std::get<Tensor>(observed[0].is).data<float>()[k]; }
  NodeJudgement judge() { return judge_node(node, means, inputs, observed, options); }
};

std::vector<float> some(std::size_t count) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> x(count);
  for (float& v : x) v = normal(random);
  return x;
}

TEST(JudgeNode, ExtendedOutputsByTheirBoundAndOthersExactly) {
  Bench b(some(2000));
  NodeJudgement j = b.judge();
  EXPECT_EQ(j.verdict, Verdict::within) << j.detail;
  EXPECT_EQ(j.cls, Class::strict);
  EXPECT_EQ(j.outputs[0].judged, 2000);
  EXPECT_GT(j.outputs[0].aggregate, 0);
  EXPECT_EQ(j.outputs[1].verdict, Verdict::exact);
  std::get<Tensor>(b.observed[1].is).data<Index>()[0] = 8;
  EXPECT_EQ(b.judge().verdict, Verdict::wrong_value);
}

TEST(JudgeNode, WhatStrictRefusesIsJudgedFast) {
  Bench b(some(2000));
  b.y(3) *= 1 + 0x1.4p-22F;  // two and a half ulp
  const NodeJudgement j = b.judge();
  EXPECT_EQ(j.verdict, Verdict::within);
  EXPECT_EQ(j.cls, Class::fast);
  b.options.then_fast = false;
  EXPECT_EQ(b.judge().verdict, Verdict::wrong_value);
  b.options.then_fast = true;
  b.y(3) *= 1.0001F;
  EXPECT_EQ(b.judge().verdict, Verdict::wrong_value);
  EXPECT_EQ(b.judge().outputs[0].where, 3);
}

TEST(JudgeNode, SubnormalsMayFlushInFastOnlyAndWholly) {
  std::vector<float> x = some(100);
  x[9] = -90;
  Bench b(x);
  b.y(9) = 0;
  const NodeJudgement j = b.judge();
  EXPECT_EQ(j.verdict, Verdict::within) << j.detail;
  EXPECT_TRUE(j.flushed);
  EXPECT_EQ(j.cls, Class::fast);
  b.options.then_fast = false;
  EXPECT_EQ(b.judge().verdict, Verdict::wrong_value);
}

TEST(JudgeNode, AboveTheLimitASampleIsJudged) {
  Bench b(some(5000));
  b.options.sample_above = 1000;
  const NodeJudgement j = b.judge();
  EXPECT_TRUE(j.sampled);
  EXPECT_GE(j.outputs[0].judged, 256);
  EXPECT_LT(j.outputs[0].judged, 1000);
  EXPECT_EQ(j.outputs[0].elements, 5000);
}

TEST(JudgeNode, WhatCannotBeJudgedIsNoPass) {
  Bench b(some(10));
  b.extended.bounded = refusing;
  EXPECT_EQ(b.judge().verdict, Verdict::unsupported);
  b.extended.bounded = failing;
  EXPECT_EQ(b.judge().verdict, Verdict::harness);
  EXPECT_FALSE(b.judge().over_limit);
  b.extended.bounded = too_large;
  EXPECT_EQ(b.judge().verdict, Verdict::harness);
  EXPECT_TRUE(b.judge().over_limit);
  b.extended.bounded = forbidding;  // by rounding alone, for the kernel accepts
  EXPECT_EQ(b.judge().verdict, Verdict::open);
  b.means.native = [](const std::vector<Value>&) -> std::vector<Value> {
    throw Error(ErrorKind::invalid_input, "a rule");
  };  // a target that gives outputs nevertheless
  EXPECT_EQ(b.judge().verdict, Verdict::accepted_invalid);
  b.means = NodeMeans{};
  EXPECT_EQ(b.judge().verdict, Verdict::unsupported);
  b.node.outputs[1] = "";
  b.observed[0] = Value();
  EXPECT_EQ(b.judge().verdict, Verdict::unwritten);
}

TEST(JudgeNode, InferredShapesAreHeldFirst) {
  Bench b(some(10));
  b.means.infer = [] {
    Inferred i;
    i.add(Type::float32, Shape{11});
    i.add(Type::int64, std::nullopt);
    return i;
  };
  b.extended.bounded = failing;  // never called
  EXPECT_EQ(b.judge().verdict, Verdict::wrong_shape);
}

// y = exp(x) * 0.2, by a formula that bounds nothing.
void twice_as_much(ExtendedCall<Bounded>& call) {
  scaled_exp<Bounded>(call);
  for (Bounded& x : call.outputs[0].values) x = x * constant<Bounded>(2);
}
void anything(ExtendedCall<Bounded>& call) {
  scaled_exp<Bounded>(call);
  for (Bounded& x : call.outputs[0].values) x = Bounded::anything(x.hi);
}

TEST(JudgeNode, AnAlternativeFormulaIsRightAsAWhole) {
  Bench b(some(40));
  b.extended.also = {{"twice", twice_as_much, nullptr}};
  for (std::size_t k = 0; k < 40; ++k) b.y(k) *= 2;
  const NodeJudgement j = b.judge();
  EXPECT_TRUE(is_pass(j.verdict)) << j.detail;
  EXPECT_EQ(j.formula, "twice");
  b.y(3) /= 2;  // one element by each formula
  EXPECT_EQ(b.judge().verdict, Verdict::wrong_value);
}

TEST(JudgeNode, AFormulaThatSaysNothingExcusesNothing) {
  Bench b(some(40));
  b.extended.also = {{"anything", anything, nullptr}};
  b.y(3) *= 2;
  EXPECT_EQ(b.judge().verdict, Verdict::wrong_value);
}

// If class fast mistrusts a result, it is not refused because strict refused it.
TEST(JudgeNode, WhatFastMistrustsIsNotRefusedBecauseStrictDid) {
  std::vector<float> x(40, 0.5F);
  x[3] = 0.75F;
  Bench bench(x);
  bench.y(3) *= 1 + 0x1.4p-22F;  // two and a half ulp
  bench.options.then_fast = false;
  EXPECT_EQ(bench.judge().verdict, Verdict::wrong_value);
  bench.options.then_fast = true;
  const NodeJudgement found = bench.judge();
  EXPECT_EQ(found.verdict, Verdict::mistrusted) << found.detail;
  EXPECT_EQ(found.cls, Class::fast);
}

}  // namespace
}  // namespace touchstone::judge
