// Exact comparison and the suite's tolerance, over every kind of value.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "conformance/judge/judge.h"
#include "core/numbers/convert.h"

namespace touchstone::judge {
namespace {

template <class T>
Tensor tensor(Type type, const std::vector<T>& values) {
  Tensor out(type, {static_cast<Index>(values.size())});
  std::copy(values.begin(), values.end(), out.data<T>());
  return out;
}
Tensor floats(const std::vector<float>& values) { return tensor(Type::float32, values); }
Tensor integers(const std::vector<Index>& values) { return tensor(Type::int64, values); }

Verdict exact(const Value& e, const Value& a) { return judge_exact(e, a).verdict; }
Verdict compat(const Value& e, const Value& a) { return judge_tolerance(e, a).verdict; }

TEST(JudgeExact, Int64OffByOneIsRefused) {
  const Comparison c = judge_exact(integers({5, 2000}), integers({5, 2001}));
  EXPECT_EQ(c.verdict, Verdict::wrong_value);
  EXPECT_EQ(c.where, 1);
  EXPECT_EQ(c.actual, "2001 (0x00000000000007d1)");
  EXPECT_TRUE(is_pass(compat(integers({5, 2000}), integers({5, 2001}))));
  EXPECT_EQ(exact(integers({Index{1} << 62}), integers({(Index{1} << 62) + 1})),
            Verdict::wrong_value);
}

TEST(JudgeExact, NanPayloadIsNotComparedAndZeroSignsOnlyWhereAsked) {
  EXPECT_EQ(exact(floats({NAN, 0}), floats({-NAN, -0.0F})), Verdict::exact);
  EXPECT_EQ(judge_exact(floats({0}), floats({-0.0F}), ZeroSign::compared).verdict,
            Verdict::wrong_value);
  EXPECT_EQ(exact(floats({NAN}), floats({1})), Verdict::wrong_value);
  EXPECT_EQ(exact(floats({0.1F}), floats({std::nextafter(0.1F, 1.0F)})), Verdict::wrong_value);
}

TEST(JudgeExact, EveryTypeIsCompared) {
  for (const Type type :
       {Type::uint8,        Type::int8,           Type::uint16,     Type::int16,
        Type::int32,        Type::int64,          Type::boolean,    Type::float16,
        Type::float64,      Type::uint32,         Type::uint64,     Type::bfloat16,
        Type::float8e4m3fn, Type::float8e4m3fnuz, Type::float8e5m2, Type::float8e5m2fnuz,
        Type::uint4,        Type::int4,           Type::float4e2m1, Type::float8e8m0,
        Type::uint2,        Type::int2,           Type::float6e2m3, Type::float6e3m2}) {
    Tensor a(type, {5}), b(type, {5});
    for (Index i = 0; i < 5; ++i) set_code(a, i, 1), set_code(b, i, 1);
    EXPECT_EQ(exact(a, b), Verdict::exact) << touchstone::name(type);
    EXPECT_EQ(compat(a, b), Verdict::exact) << touchstone::name(type);
    set_code(b, 3, 0);
    const Comparison c = judge_exact(a, b);
    EXPECT_EQ(c.verdict, Verdict::wrong_value) << touchstone::name(type);
    EXPECT_EQ(c.where, 3) << touchstone::name(type);
    EXPECT_EQ(exact(a, Tensor(type, {5, 1})), Verdict::wrong_shape);
  }
  EXPECT_EQ(
      exact(tensor<std::string>(Type::string, {"a"}), tensor<std::string>(Type::string, {"b"})),
      Verdict::wrong_value);
  EXPECT_EQ(
      exact(tensor<std::string>(Type::string, {"a"}), tensor<std::string>(Type::string, {"a"})),
      Verdict::exact);
  using C = std::complex<float>;
  EXPECT_EQ(exact(tensor<C>(Type::complex64, {{1, 2}}), tensor<C>(Type::complex64, {{1, 3}})),
            Verdict::wrong_value);
  EXPECT_EQ(exact(floats({}), floats({})), Verdict::exact);
  EXPECT_EQ(exact(floats({1}), integers({1})), Verdict::wrong_type);
}

TEST(JudgeExact, ContainersAreWalked) {
  const Value two = Sequence{{}, {floats({1}), floats({2})}},
              other = Sequence{{}, {floats({1}), floats({3})}};
  EXPECT_EQ(exact(two, two), Verdict::exact);
  EXPECT_EQ(exact(two, other), Verdict::wrong_value);
  EXPECT_EQ(exact(two, Sequence{{}, {floats({0}), floats({2})}}), Verdict::wrong_value);
  EXPECT_EQ(exact(two, Sequence{{}, {floats({1})}}), Verdict::wrong_shape);
  EXPECT_EQ(exact(Sequence{{}, {floats({1})}}, two), Verdict::wrong_shape);
  const Value none = Optional{}, some = Optional{{}, std::make_shared<const Value>(floats({1}))};
  EXPECT_EQ(exact(none, none), Verdict::exact);
  EXPECT_EQ(exact(none, some), Verdict::wrong_value);
  EXPECT_EQ(exact(some, some), Verdict::exact);
  Map map, changed;
  map.by_integer[3] = floats({1});
  changed.by_integer[3] = floats({2});
  EXPECT_EQ(exact(map, map), Verdict::exact);
  EXPECT_EQ(exact(map, changed), Verdict::wrong_value);
  Map moved, named;
  moved.by_integer[4] = floats({1});
  named.key = Type::string;
  named.by_string["3"] = floats({1});
  EXPECT_EQ(exact(map, moved), Verdict::wrong_value);
  EXPECT_EQ(exact(map, named), Verdict::wrong_type);
  const SparseTensor sparse{floats({5}), integers({1}), {3}},
      elsewhere{floats({5}), integers({2}), {3}};
  EXPECT_EQ(exact(sparse, sparse), Verdict::exact);
  EXPECT_EQ(exact(sparse, elsewhere), Verdict::wrong_value);
  EXPECT_EQ(exact(floats({1}), Value()), Verdict::unwritten);
}

TEST(JudgeTolerance, IsTheSuitesRule) {
  EXPECT_EQ(compat(floats({1000}), floats({1000.9F})), Verdict::within);
  EXPECT_EQ(compat(floats({1000}), floats({1001.1F})), Verdict::wrong_value);
  EXPECT_EQ(compat(floats({0}), floats({1e-8F})), Verdict::within);
  EXPECT_EQ(compat(floats({0}), floats({1e-6F})), Verdict::wrong_value);
  EXPECT_EQ(compat(floats({NAN, INFINITY}), floats({NAN, INFINITY})), Verdict::exact);
  EXPECT_EQ(compat(floats({INFINITY}), floats({-INFINITY})), Verdict::wrong_value);
  EXPECT_EQ(compat(floats({INFINITY}), floats({1})), Verdict::wrong_value);
  EXPECT_EQ(compat(floats({1}), floats({NAN})), Verdict::wrong_value);
  EXPECT_EQ(judge_tolerance(floats({1}), floats({1.4F}), 0.5, 0).verdict, Verdict::within);
  Tensor a(Type::bfloat16, {1}), b(Type::bfloat16, {1});
  set_number(a, 0, 1);
  set_number(b, 0, 1 + 0x1p-6);
  EXPECT_EQ(compat(a, b), Verdict::within);
  set_number(b, 0, 1 + 0x1p-5);
  EXPECT_EQ(compat(a, b), Verdict::wrong_value);
}

}  // namespace
}  // namespace touchstone::judge
