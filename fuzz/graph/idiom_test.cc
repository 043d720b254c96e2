// Tests the parser of idioms, and the idioms of the project.
#include "fuzz/graph/idiom.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "fuzz/graph/graph_source.h"

namespace touchstone::fuzz {
namespace {

TEST(Idiom, HasHolesSizesAndStatements) {
  const std::vector<Idiom> all = parse_idioms(R"(
# a comment
idiom scaled since 13 until 20
sizes C=1..4 N=1..9?
x: float[...,N,C]~unit
w = *float[<C>]~real
y, _ = Mul(x, w, *int64[2]{0,1}, _) axis=<C-1> mode="a"
)",
                                              "some.idioms");
  ASSERT_EQ(all.size(), 1U);
  const Idiom& one = all[0];
  EXPECT_EQ(one.since, 13);
  EXPECT_EQ(one.until, 20);
  ASSERT_EQ(one.sizes.size(), 2U);
  EXPECT_FALSE(one.sizes[0].dynamic);
  EXPECT_TRUE(one.sizes[1].dynamic);
  EXPECT_TRUE(one.holes.at(0).leading);
  EXPECT_THAT(one.holes.at(0).dims, ::testing::ElementsAre("N", "C"));
  EXPECT_EQ(one.holes.at(0).regime, "unit");
  ASSERT_EQ(one.statements.size(), 2U);
  EXPECT_EQ(one.statements[0].kind, Statement::Kind::constant);
  EXPECT_THAT(one.statements[1].outputs, ::testing::ElementsAre("y", "_"));
  EXPECT_THAT(one.statements[1].ports, ::testing::ElementsAre("x", "w", "*int64[2]{0,1}", "_"));
  EXPECT_EQ(one.statements[1].attributes, " axis=<C-1> mode=\"a\"");
}

TEST(Idiom, BodiesNest) {
  const std::vector<Idiom> all = parse_idioms(R"(idiom nested
x: float[N]
body outer(a=x)
  body inner()
    b = Neg(a)
    return b
  end
  c = If(a) then_branch=@inner
  return c
end
y = Loop(x) body=@outer
)",
                                              "some.idioms");
  const Statement& outer = all.at(0).statements.at(0);
  EXPECT_EQ(outer.kind, Statement::Kind::body);
  ASSERT_EQ(outer.inner.size(), 2U);
  EXPECT_EQ(outer.inner[0].inner.size(), 1U);
  EXPECT_THAT(outer.results, ::testing::ElementsAre("c"));
  EXPECT_EQ(all[0].statements[1].graphs.at(0).second, "outer");
}

TEST(Idiom, ErrorsNameTheLine) {
  for (const char* text : {"y = Neg(x)", "idiom a\nsizes C=4..1", "idiom a\ny = Neg(x",
                           "idiom a\nbody b()\ny = Neg(x)", "idiom a\nNeg(x)", "idiom"}) {
    try {
      parse_idioms(text, "some.idioms");
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_THAT(error.message, ::testing::HasSubstr("some.idioms:")) << text;
    }
  }
}

}  // namespace
}  // namespace touchstone::fuzz
