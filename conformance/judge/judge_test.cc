// Tests the judge on small handwritten kernels: faithful results pass, and faults within the
// suite's tolerance do not.
#include "conformance/judge/judge.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "core/numbers/convert.h"

namespace touchstone::judge {
namespace {

std::vector<float> normals(Index count, unsigned seed, float mean = 0) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(mean);
  std::vector<float> out(static_cast<std::size_t>(count));
  for (float& x : out) x = normal(random);
  return out;
}

Tensor tensor(const std::vector<float>& values, Shape shape) {
  Tensor out(Type::float32, std::move(shape));
  std::copy(values.begin(), values.end(), out.data<float>());
  return out;
}

std::vector<Bounded> read(const std::vector<float>& values) {
  std::vector<Bounded> out;
  for (const float x : values) out.push_back(Bounded::of(x));
  return out;
}

ExtendedOutput<Bounded> extended(std::vector<Bounded> values, Shape shape,
                                 Type type = Type::float32) {
  return {std::move(shape), type, true, {}, std::move(values)};
}

template <class S>
std::vector<S> softmax(const std::vector<S>& x) {
  Max<S> max;
  for (const S& v : x) max.add(v);
  std::vector<S> out;
  Sum<S> sum;
  for (const S& v : x) {
    out.push_back(prim::exp(v - max.get()));
    sum.add(out.back());
  }
  for (S& v : out) v = v / sum.get();
  return out;
}

std::vector<float> softmax_float(const std::vector<float>& x) {
  const float max = *std::max_element(x.begin(), x.end());
  std::vector<float> out;
  float sum = 0;
  for (const float v : x) sum += out.emplace_back(std::exp(v - max));
  for (float& v : out) v /= sum;
  return out;
}

TEST(Judge, SoftmaxScaledByOneInTenThousandIsRefused) {
  const BoundedScope scope(Type::float32, Class::fast);
  const std::vector<float> x = normals(256, 1);
  const ExtendedOutput<Bounded> expected = extended(softmax(read(x)), {256});
  std::vector<float> y = softmax_float(x);
  const Comparison faithful = judge_extended(expected, tensor(y, {256}));
  EXPECT_EQ(faithful.verdict, Verdict::within) << faithful.detail;
  EXPECT_EQ(faithful.judged, 256);
  EXPECT_EQ(faithful.open, 0);
  EXPECT_GT(faithful.utilisation_max, 0);
  EXPECT_LT(faithful.resolution_median, 1e-4);
  const Tensor good = tensor(y, {256});
  for (float& v : y) v *= 1.0001F;
  const Comparison scaled = judge_extended(expected, tensor(y, {256}));
  EXPECT_EQ(scaled.verdict, Verdict::wrong_value);
  EXPECT_GT(scaled.utilisation_max, 1);
  EXPECT_FALSE(scaled.actual.empty());
  EXPECT_TRUE(
      is_pass(judge_tolerance(good, tensor(y, {256})).verdict));  // the reason for having a judge
}

using Dot = std::function<float(const float* a, const float* b, Index n, Index stride)>;

float forward(const float* a, const float* b, Index n, Index stride) {
  float s = 0;
  for (Index k = 0; k < n; ++k) s += a[k] * b[k * stride];
  return s;
}
float reverse(const float* a, const float* b, Index n, Index stride) {
  float s = 0;
  for (Index k = n - 1; k >= 0; --k) s += a[k] * b[k * stride];
  return s;
}
float pairwise(const float* a, const float* b, Index n, Index stride) {
  if (n == 1) return a[0] * b[0];
  return pairwise(a, b, n / 2, stride) + pairwise(a + n / 2, b + n / 2 * stride, n - n / 2, stride);
}
float blocked(const float* a, const float* b, Index n, Index stride) {
  float lanes[16] = {};
  for (Index k = 0; k < n; ++k) lanes[k % 16] += a[k] * b[k * stride];
  float s = 0;
  for (const float lane : lanes) s += lane;
  return s;
}
float fused(const float* a, const float* b, Index n, Index stride) {
  float s = 0;
  for (Index k = 0; k < n; ++k) s = std::fma(a[k], b[k * stride], s);
  return s;
}

std::vector<Bounded> matmul(const std::vector<Bounded>& a, const std::vector<Bounded>& b, Index m,
                            Index k, Index n) {
  std::vector<Bounded> out;
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < n; ++j) {
      Sum<Bounded> sum;
      for (Index t = 0; t < k; ++t)
        sum.add(a[static_cast<std::size_t>(i * k + t)] * b[static_cast<std::size_t>(t * n + j)]);
      out.push_back(sum.get());
    }
  }
  return out;
}

std::vector<float> matmul(const std::vector<float>& a, const std::vector<float>& b, Index m,
                          Index k, Index n, const Dot& dot) {
  std::vector<float> out;
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < n; ++j) out.push_back(dot(a.data() + i * k, b.data() + j, k, n));
  }
  return out;
}

TEST(Judge, MatMulInAnyOrderIsAccepted) {
  const std::vector<float> a = normals(32 * 128, 2), b = normals(128 * 32, 3);
  const BoundedScope scope(Type::float32, Class::strict);
  const ExtendedOutput<Bounded> expected =
      extended(matmul(read(a), read(b), 32, 128, 32), {32, 32});
  const BoundedScope rough(Type::float32, Class::strict, Sums::aggregate, false);
  const ExtendedOutput<Bounded> aggregate =
      extended(matmul(read(a), read(b), 32, 128, 32), {32, 32});
  for (const Dot& dot : {Dot(forward), Dot(reverse), Dot(pairwise), Dot(blocked), Dot(fused)}) {
    const Comparison c =
        judge_extended(expected, tensor(matmul(a, b, 32, 128, 32, dot), {32, 32}), &aggregate);
    EXPECT_EQ(c.verdict, Verdict::within) << c.detail;
    EXPECT_EQ(c.judged, 1024);
    EXPECT_GT(c.aggregate, 0);
  }
  const Dot short_of_one = [](const float* x, const float* y, Index n, Index stride) {
    return forward(x, y, n - 1, stride);
  };
  EXPECT_EQ(
      judge_extended(expected, tensor(matmul(a, b, 32, 128, 32, short_of_one), {32, 32})).verdict,
      Verdict::wrong_value);
}

TEST(Judge, ErrorsThatConspireAreRefusedInTheAggregate) {
  // Each element is inside its worst case, but the errors of a thousand of them together are too
  // large.
  const std::vector<float> a = normals(40 * 2048, 4), b = normals(2048 * 40, 5);
  const BoundedScope scope(Type::float32, Class::strict);
  const ExtendedOutput<Bounded> expected =
      extended(matmul(read(a), read(b), 40, 2048, 40), {40, 40});
  std::vector<float> y = matmul(a, b, 40, 2048, 40, blocked);
  const BoundedScope rough(Type::float32, Class::strict, Sums::aggregate, false);
  const ExtendedOutput<Bounded> aggregate =
      extended(matmul(read(a), read(b), 40, 2048, 40), {40, 40});
  EXPECT_EQ(judge_extended(expected, tensor(y, {40, 40}), &aggregate).verdict, Verdict::within);
  for (std::size_t k = 0; k < y.size(); ++k)
    y[k] += static_cast<float>(aggregate.values[k].e * (k % 2 ? 1.2 : -1.2));
  EXPECT_TRUE(is_pass(judge_extended(expected, tensor(y, {40, 40})).verdict));
  const Comparison c = judge_extended(expected, tensor(y, {40, 40}), &aggregate);
  EXPECT_EQ(c.verdict, Verdict::wrong_value);
  EXPECT_EQ(c.detail.substr(0, 9), "aggregate");
}

TEST(Judge, ConvolutionMayStartItsSumWithTheBias) {
  const std::vector<float> x = normals(3 * 100, 6), w = normals(3 * 9, 7);
  const float bias = 37.5F;
  const BoundedScope scope(Type::float32, Class::strict);
  std::vector<Bounded> values;
  std::vector<float> bias_first, bias_last;
  for (Index o = 0; o < 92; ++o) {
    Sum<Bounded> sum;
    sum.add(Bounded::of(bias));
    float first = bias, last = 0;
    for (Index c = 0; c < 3; ++c) {
      for (Index t = 0; t < 9; ++t) {
        const float a = x[static_cast<std::size_t>(c * 100 + o + t)],
                    b = w[static_cast<std::size_t>(c * 9 + t)];
        sum.add(Bounded::of(a) * Bounded::of(b));
        first += a * b;
        last += a * b;
      }
    }
    values.push_back(sum.get());
    bias_first.push_back(first);
    bias_last.push_back(last + bias);
  }
  const ExtendedOutput<Bounded> expected = extended(values, {92});
  EXPECT_EQ(judge_extended(expected, tensor(bias_first, {92})).verdict, Verdict::within);
  EXPECT_EQ(judge_extended(expected, tensor(bias_last, {92})).verdict, Verdict::within);
  for (float& v : bias_last) v -= bias;
  EXPECT_EQ(judge_extended(expected, tensor(bias_last, {92})).verdict, Verdict::wrong_value);
}

Bounded quantize(const Bounded& x, const Bounded& scale, double zero) {
  return convert(prim::round_even(x / scale) + Bounded::of(zero), Type::uint8, true);
}

TEST(Judge, TwoAndAHalfQuantisedToThreeIsRefused) {
  Tensor two(Type::uint8, {1}), three(Type::uint8, {1});
  two.data<std::uint8_t>()[0] = 130;
  three.data<std::uint8_t>()[0] = 131;
  for (const Class cls : {Class::strict, Class::fast}) {
    const BoundedScope scope(Type::float32, cls);
    const ExtendedOutput<Bounded> exact =
        extended({quantize(Bounded::of(2.5), Bounded::of(1), 128)}, {1}, Type::uint8);
    EXPECT_EQ(judge_extended(exact, two).verdict, Verdict::exact);
    EXPECT_EQ(judge_extended(exact, three).verdict, Verdict::wrong_value);
    // A scale that makes the quotient inexact leaves both neighbors open, and nothing else.
    const ExtendedOutput<Bounded> either =
        extended({quantize(Bounded::of(0.25F), Bounded::of(0.1F), 128)}, {1}, Type::uint8);
    EXPECT_TRUE(is_pass(judge_extended(either, two).verdict));
    EXPECT_EQ(judge_extended(either, three).verdict, Verdict::in_set);
    two.data<std::uint8_t>()[0] = 129;
    EXPECT_EQ(judge_extended(either, two).verdict, Verdict::wrong_value);
    two.data<std::uint8_t>()[0] = 130;
  }
}

TEST(Judge, AllElementsOpenIsNotAPass) {
  const ExtendedOutput<Bounded> expected =
      extended({Bounded::anything(1), Bounded::anything(2)}, {2});
  const Comparison c = judge_extended(expected, tensor({1, 2}, {2}));
  EXPECT_EQ(c.judged, 0);
  EXPECT_EQ(c.open, 2);
  EXPECT_EQ(c.verdict, Verdict::open);
  EXPECT_FALSE(is_pass(c.verdict));
}

TEST(Judge, AWideBoundIsOpenAndAConstantOutputMistrusted) {
  std::vector<Bounded> values(100, Bounded::raw(1, 0, 1e-6));
  EXPECT_EQ(
      judge_extended(extended(values, {100}), tensor(std::vector<float>(100, 1), {100})).verdict,
      Verdict::mistrusted);
  for (std::size_t k = 0; k < values.size(); ++k)
    values[k] = Bounded::raw(static_cast<double>(k), 0, 1e-6);
  values[5].e = 3;
  std::vector<float> y;
  for (int k = 0; k < 100; ++k) y.push_back(static_cast<float>(k) + 1e-7F);
  const Comparison c = judge_extended(extended(values, {100}), tensor(y, {100}));
  EXPECT_EQ(c.open, 1);
  EXPECT_EQ(c.verdict, Verdict::within);
  // Exact data is judged by every element, even if it is constant.
  EXPECT_EQ(judge_extended(extended(std::vector<Bounded>(100, Bounded::of(1)), {100}),
                           tensor(std::vector<float>(100, 1), {100}))
                .verdict,
            Verdict::exact);
}

TEST(Judge, ABoundEndsWhereItSays) {
  // 1 + 2^-21 with a bound of 2^-22, the value split into hi and lo.
  const ExtendedOutput<Bounded> expected =
      extended({Bounded::raw(1, 0x1p-21, 0x1p-22), Bounded::of(64)}, {2});
  const auto verdict = [&](double off) {
    return judge_extended(expected, tensor({static_cast<float>(1 + 0x1p-21 + off), 64}, {2}))
        .verdict;
  };
  EXPECT_EQ(verdict(0), Verdict::exact);
  EXPECT_EQ(verdict(0x1p-22), Verdict::within);
  EXPECT_EQ(verdict(-0x1p-22), Verdict::within);
  EXPECT_EQ(verdict(0x1p-22 + 0x1p-23), Verdict::wrong_value);
  EXPECT_EQ(verdict(-0x1p-22 - 0x1p-23), Verdict::wrong_value);
}

TEST(Judge, AnOpenBoundRefusesWhatIsOutside) {
  const ExtendedOutput<Bounded> expected = extended({Bounded::raw(5, 0, 3), Bounded::of(64)}, {2});
  EXPECT_EQ(judge_extended(expected, tensor({7, 64}, {2})).open, 1);
  EXPECT_EQ(judge_extended(expected, tensor({9, 64}, {2})).verdict, Verdict::wrong_value);
}

TEST(Judge, AWholeWhoseBoundSaysNothingIsOpen) {
  const ExtendedOutput<Bounded> expected =
      extended(std::vector<Bounded>(aggregate_from, Bounded::raw(1, 0, 10)), {aggregate_from});
  const Tensor actual = tensor(std::vector<float>(aggregate_from, 2), {aggregate_from});
  const Comparison c = judge_extended(expected, actual, &expected);
  EXPECT_LT(c.aggregate, 1);
  EXPECT_EQ(c.verdict, Verdict::open);
}

TEST(Judge, ABoundWiderThanTheRangeIsMistrusted) {
  std::vector<Bounded> values;
  std::vector<float> actual;
  for (int k = 0; k < 20; ++k) {
    actual.push_back(1000 + 0x1p-6F * static_cast<float>(k));
    values.push_back(Bounded::raw(actual.back(), 0, 1));
  }
  actual[3] += 0x1p-7F;
  EXPECT_EQ(judge_extended(extended(values, {20}), tensor(actual, {20})).verdict,
            Verdict::mistrusted);
}

TEST(Judge, NextToZeroTheLastBitSaysEnough) {
  const Comparison c = judge_extended(extended({Bounded::raw(0x1p-148, 0, 0x1p-149)}, {1}),
                                      tensor({0x1p-149F}, {1}));
  EXPECT_EQ(c.verdict, Verdict::within);
  EXPECT_EQ(c.open, 0);
}

TEST(Judge, ASetIsAsSharpAsItsMembers) {
  const Bounded any = either_of(either_of(Bounded::of(0), Bounded::of(1)), Bounded::of(2));
  for (const float member : {1.0F, 2.0F}) {
    const Comparison c = judge_extended(extended({any}, {1}), tensor({member}, {1}));
    EXPECT_EQ(c.verdict, Verdict::in_set);
    EXPECT_EQ(c.open, 0);
  }
  EXPECT_EQ(judge_extended(extended({any}, {1}), tensor({1.5F}, {1})).verdict,
            Verdict::wrong_value);
}

TEST(Judge, TheLargestNumberIsRightWhereItIsAllowed) {
  Bounded past = Bounded::raw(9, 0, 0.25);
  past.add_specials(special::largest);
  const ExtendedOutput<Bounded> expected = extended({past}, {1}, Type::float4e2m1);
  const auto verdict = [&](double x) {
    Tensor actual(Type::float4e2m1, {1});
    set_number(actual, 0, x);
    return judge_extended(expected, actual).verdict;
  };
  EXPECT_EQ(verdict(6), Verdict::in_set);
  EXPECT_EQ(verdict(4), Verdict::wrong_value);
  EXPECT_EQ(verdict(-6), Verdict::wrong_value);
}

TEST(Judge, SpecialsAreRightWhereTheyAreAllowed) {
  Bounded overflow = Bounded::raw(3e39, 0, 1e32);
  overflow.add_specials(special::infinity);
  const std::vector<Bounded> values = {overflow, Bounded::of(NAN), Bounded::of(-INFINITY),
                                       Bounded::of(0)};
  const auto verdict = [&](const std::vector<float>& y) {
    return judge_extended(extended(values, {4}), tensor(y, {4})).verdict;
  };
  EXPECT_TRUE(is_pass(verdict({INFINITY, -NAN, -INFINITY, -0.0F})));
  EXPECT_EQ(verdict({-INFINITY, NAN, -INFINITY, 0}), Verdict::wrong_value);
  EXPECT_EQ(verdict({NAN, NAN, -INFINITY, 0}), Verdict::wrong_value);
  EXPECT_EQ(verdict({INFINITY, 1, -INFINITY, 0}), Verdict::wrong_value);
  EXPECT_EQ(verdict({INFINITY, NAN, INFINITY, 0}), Verdict::wrong_value);
  EXPECT_EQ(verdict({INFINITY, NAN, -INFINITY, NAN}), Verdict::wrong_value);
}

TEST(Judge, ShapeAndTypeComeFirst) {
  const ExtendedOutput<Bounded> expected = extended({Bounded::of(1)}, {1});
  EXPECT_EQ(judge_extended(expected, tensor({1}, {1, 1})).verdict, Verdict::wrong_shape);
  EXPECT_EQ(judge_extended(expected, Tensor(Type::float64, {1})).verdict, Verdict::wrong_type);
}

TEST(Judge, TheArbiterDecidesCloseCalls) {
  // The bounded value is 1 with bound 2^-20; the exact value is slightly off, so an element that
  // seemed inside is not.
  const ExtendedOutput<Bounded> expected =
      extended({Bounded::raw(1, 0, 0x1p-20), Bounded::of(64)}, {2});
  const Tensor actual = tensor({1 + 0x1p-20F, 64}, {2});
  EXPECT_EQ(judge_extended(expected, actual).verdict, Verdict::within);
  const ExtendedOutput<Exact> low{{2}, Type::float32, true, {}, {Exact(1 - 0x1p-30), Exact(64.0)}};
  EXPECT_EQ(judge_extended(expected, actual, nullptr, &low).verdict, Verdict::wrong_value);
  const ExtendedOutput<Exact> high{{2}, Type::float32, true, {}, {Exact(1 + 0x1p-30), Exact(64.0)}};
  EXPECT_EQ(judge_extended(expected, actual, nullptr, &high).verdict, Verdict::within);
}

TEST(Verdicts, PassesAndFailuresAreTheseAlone) {
  std::string passes, failures;
  for (int v = 0; v <= static_cast<int>(Verdict::harness); ++v) {
    const auto verdict = static_cast<Verdict>(v);
    if (is_pass(verdict)) passes += std::string(name(verdict)) + " ";
    if (is_fail(verdict)) failures += std::string(name(verdict)) + " ";
  }
  EXPECT_EQ(passes, "exact within in-set profile ");
  EXPECT_EQ(failures,
            "wrong-value wrong-shape wrong-type rejected-valid accepted-invalid nondeterministic "
            "wrote-input overrun unwritten crash timeout out-of-memory ");
}

TEST(Verdicts, EveryOneHasANameAndOneSide) {
  for (int v = 0; v <= static_cast<int>(Verdict::harness); ++v) {
    const auto verdict = static_cast<Verdict>(v);
    EXPECT_FALSE(name(verdict).empty());
    EXPECT_FALSE(is_pass(verdict) && is_fail(verdict));
  }
  EXPECT_EQ(worse(Verdict::exact, Verdict::open), Verdict::open);
  EXPECT_EQ(worse(Verdict::wrong_value, Verdict::harness), Verdict::wrong_value);
}

}  // namespace
}  // namespace touchstone::judge
