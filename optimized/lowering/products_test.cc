// Tests the family of products on small integers, whose sums are exact in any order: every result
// has the reference's bits.
#include <gmock/gmock.h>
#include <sys/mman.h>

#include "optimized/kernels/gemm.h"
#include "optimized/testing.h"

namespace touchstone::optimized {
namespace {

// A factor that is known in the run alone: small integers.
std::string computed(Net& net, const Shape& shape) {
  return net.node("Add",
                  {net.constant(shape), net.node("ReduceMax", {"x"}, {}, {{"keepdims", 0}})});
}

std::string einsum(const std::string& equation, const Shape& a, const Shape& b, bool constant) {
  Net net(a);
  std::vector<std::string> inputs{"x"};
  if (!b.empty()) inputs.push_back(constant ? net.constant(b) : computed(net, b));
  const std::string y = net.node("Einsum", inputs);
  net.words("equation", equation);
  net.output(y);
  return net.check();
}

TEST(Products, EinsumOfTwo) {
  struct Case {
    std::string equation;
    Shape a, b;
  };
  const std::vector<Case> cases{
      {"bhqd,bhkd->bhqk", {2, 3, 9, 17}, {2, 3, 19, 17}},  // B by rows
      {"bhqk,bhkd->bhqd", {2, 3, 40, 33}, {2, 3, 33, 50}},
      {"bqhd,bkhd->bhqk", {2, 9, 3, 16}, {2, 34, 3, 16}},  // strided rows
      {"bld,edh->bleh", {1, 12, 40}, {4, 40, 36}},
      {"bleh,ehd->bled", {1, 12, 4, 40}, {4, 40, 36}},  // a batch between rows and columns
      {"ij,jk->ki", {12, 40}, {40, 36}},                // turned
      {"ij,kj->ik", {1, 300}, {70, 300}},               // one row, dots
      {"ij,jk->ik", {1, 40}, {40, 200}},                // one row, tiles
      {"ij,jk->ik", {3, 40}, {40, 23}},
      {"ijk,kjl->il", {9, 5, 7}, {7, 5, 60}},      // two summed dimensions
      {"iaj,jbk->iabk", {4, 3, 40}, {40, 5, 9}},   // rows and columns of two dimensions
      {"iaj,jbk->abik", {4, 3, 40}, {40, 5, 9}},   // no matrix of the result is contiguous
      {"abi,aci->bca", {3, 10, 40}, {3, 12, 40}},  // a batch as the last dimension
      {"i,j->ij", {7}, {90}},
      {"ij,j->i", {70, 33}, {33}},
      {"ij,ij->", {12, 34}, {12, 34}},
      {"bij,bij->bij", {3, 7, 5}, {3, 7, 5}},
      {"i,j->", {5}, {6}},
      {"ij,k->j", {5, 9}, {6}},
      {"ii,ij->ij", {6, 6}, {6, 50}},
      {"...ij,...jk->...ik", {3, 9, 20}, {3, 20, 40}},
      {"bij,bjk->bik", {1, 9, 20}, {5, 20, 40}},  // an extent of one repeats
  };
  for (const Case& each : cases) {
    for (const bool constant : {false, true}) {
      SCOPED_TRACE(each.equation + text(each.a) + text(each.b));
      EXPECT_THAT(einsum(each.equation, each.a, each.b, constant),
                  ::testing::HasSubstr("contraction"));
    }
  }
}

TEST(Products, EinsumOfOne) {
  for (const char* equation : {"abc->cab", "abc->", "abc->b", "aab->ab", "aab->ba", "...c->c..."}) {
    SCOPED_TRACE(equation);
    EXPECT_THAT(einsum(equation, {5, 5, 9}, {}, false), ::testing::HasSubstr("contraction"));
  }
}

std::string einsum_of(const std::string& equation, const std::vector<Shape>& shapes) {
  Net net(shapes[0]);
  std::vector<std::string> inputs{"x"};
  for (std::size_t k = 1; k < shapes.size(); ++k) inputs.push_back(computed(net, shapes[k]));
  const std::string y = net.node("Einsum", inputs);
  net.words("equation", equation);
  net.output(y);
  return net.check();
}

TEST(Products, EinsumOfMore) {
  const std::vector<std::pair<std::string, std::vector<Shape>>> cases{
      {"i,ij,j->", {{7}, {7, 9}, {9}}},
      {"ab,bc,cd->ad", {{12, 9}, {9, 20}, {20, 17}}},
      {"ab,bc,cd->da", {{12, 9}, {9, 20}, {20, 17}}},
      {"bi,ijk,bj->bk", {{4, 9}, {9, 8, 7}, {4, 8}}},
      {"bhid,bhjd,j->bhij", {{2, 3, 9, 8}, {2, 3, 7, 8}, {7}}},
      {"i,j,k->kji", {{3}, {4}, {5}}},
      {"a,b,c,d,e->", {{3}, {4}, {5}, {6}, {2}}},
      {"ii,ij,j->i", {{5, 5}, {5, 6}, {6}}},
      {"ab,ab,ab->b", {{5, 6}, {1, 6}, {5, 1}}},
      {"...ij,...jk,k->...i", {{2, 3, 4, 5}, {1, 3, 5, 6}, {6}}},
      {"ij,kl,->ik", {{3, 4}, {5, 6}, {}}},
      {"ij,jk,kl->il", {{3, 4}, {4, 0}, {0, 5}}},
      {"ij,jk,kl->il", {{3, 4}, {4, 5}, {5, 0}}},
  };
  for (const auto& [equation, shapes] : cases) {
    SCOPED_TRACE(equation);
    EXPECT_THAT(einsum_of(equation, shapes), ::testing::HasSubstr("contraction chain"));
  }
}

// The sum over i alone, the cheapest product, overflows; the definition's products do not.
TEST(Products, EinsumOfMoreOverflowsWhereItsDefinitionDoes) {
  Net net({1});
  const std::string large = net.reals({3e38F, 3e38F}), small = net.reals({1e-30F, 1e-30F, 1e-30F});
  const std::string y = net.node("Einsum", {large, small, "x"});
  net.words("equation", "i,j,l->l");
  net.output(y);
  EXPECT_THAT(net.check(), ::testing::HasSubstr("reference"));
}

// A product of zero and infinity is NaN in the definition, though not every sum of two factors has
// the zero.
TEST(Products, EinsumOfMoreKeepsInfinities) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const std::vector<float>& last :
       {std::vector<float>{0, -infinity}, std::vector<float>{1e30F, infinity}}) {
    Net net({1});
    const std::string y =
        net.node("Einsum", {net.reals({0, 1}), "x", net.reals(last), net.reals({1, 2})});
    net.words("equation", "i,l,j,k->k");
    net.output(y);
    EXPECT_THAT(net.check(), ::testing::HasSubstr("reference"));
  }
}

TEST(Products, EmptyOnes) {
  for (const char* equation : {"ij,jk->ik", "ij,jk->", "ij,jk->j"}) {
    EXPECT_THAT(einsum(equation, {3, 4}, {4, 0}, true), ::testing::HasSubstr("contraction"));
  }
}

TEST(Products, Matmuls) {
  const std::vector<std::pair<Shape, Shape>> cases{{{40}, {40}},
                                                   {{40}, {40, 70}},
                                                   {{70, 40}, {40}},
                                                   {{3, 9, 40}, {40}},
                                                   {{40}, {3, 40, 9}},
                                                   {{2, 9, 40}, {2, 40, 33}},
                                                   {{1, 40}, {40, 99}},
                                                   {{4, 1, 40}, {4, 40, 64}},
                                                   {{2, 1, 5, 40}, {3, 40, 9}},
                                                   {{9, 40}, {2, 3, 40, 70}}};
  for (const auto& [a, b] : cases) {
    for (const bool constant : {false, true}) {
      SCOPED_TRACE(text(a) + text(b));
      Net net(a);
      net.output(net.node("MatMul", {"x", constant ? net.constant(b) : computed(net, b)}));
      net.check();
    }
  }
  // Special values stay where the definition has them.
  Net net({5, 40});
  net.specials = true;
  net.output(net.node("MatMul", {"x", computed(net, {3, 40, 33})}));
  net.check();
}

// One step multiplies matrices of other sizes in each run.
TEST(Products, MatmulsOfSizesThatDependOnData) {
  Net net({9});
  const std::string where = net.node("NonZero", {"x"});
  const std::string rows = net.node("Gather", {net.constant({9, 40}), where}, {}, {{"axis", 0}});
  net.output(net.node("MatMul", {rows, computed(net, {40, 33})}));
  Session session(net.model());
  for (const Index many : {5, 2, 0, 9, 2}) {
    Tensor x(Type::float32, {9});
    std::fill_n(x.data<float>(), 9, 0.0F);
    std::fill_n(x.data<float>(), many, 3.0F);
    const Tensor y = session.run({{"x", x}}).begin()->second.tensor();
    const Tensor wanted = run(net.model(), {{"x", x}}).begin()->second.tensor();
    ASSERT_EQ(y.shape(), wanted.shape());
    EXPECT_THAT(
        std::span(y.data<float>(), static_cast<std::size_t>(y.size())),
        ::testing::ElementsAreArray(wanted.data<float>(), static_cast<std::size_t>(wanted.size())));
  }
}

TEST(Products, Gemms) {
  const std::vector<Shape> biases{{}, {1}, {33}, {12, 33}, {12, 1}, {1, 33}};
  std::size_t next = 0;
  for (const Index turns_a : {0, 1}) {
    for (const Index turns_b : {0, 1}) {
      for (const Index rows : {1, 12}) {
        Net net(turns_a ? Shape{40, rows} : Shape{rows, 40});
        const Shape b = turns_b ? Shape{33, 40} : Shape{40, 33};
        std::vector<std::string> inputs{"x", computed(net, b)};
        Shape c = biases[next++ % biases.size()];
        if (c.size() == 2 && c[0] == 12) c[0] = rows;
        if (next % 3 != 0) inputs.push_back(computed(net, c));
        net.output(net.node("Gemm", inputs, {}, {{"transA", turns_a}, {"transB", turns_b}}));
        EXPECT_THAT(net.check(), ::testing::HasSubstr("contraction"));
      }
    }
  }
}

// Sums of the products alone would overflow or underflow, or not.
TEST(Products, GemmScalesItsFirstFactor) {
  struct Case {
    float a, b, alpha;
  };
  for (const Case& one : {Case{1e20F, 1e20F, 1e-30F}, Case{1e-25F, 1e-25F, 1e30F},
                          Case{2, 1e-20F, 3e38F}, Case{1e-30F, 3, 3e38F}}) {
    for (const bool constant_a : {false, true}) {
      Net net({3, 3});
      Tensor held(Type::float32, {3, 3});
      std::fill_n(held.data<float>(), held.size(), constant_a ? one.a : one.b);
      const std::string c = net.held(held);
      const std::vector<std::string> inputs{constant_a ? c : "x", constant_a ? "x" : c};
      net.output(net.node("Gemm", inputs));
      Model model = net.model();
      model.graph.nodes[0].attributes["alpha"].is = one.alpha;
      Tensor fed(Type::float32, {3, 3});
      std::fill_n(fed.data<float>(), fed.size(), constant_a ? one.b : one.a);
      const std::map<std::string, Value> feeds{{"x", fed}};
      const Tensor expected = run(model, feeds).begin()->second.tensor(),
                   made = Session(model).run(feeds).begin()->second.tensor();
      for (Index k = 0; k < made.size(); ++k)
        EXPECT_EQ(made.data<float>()[k], expected.data<float>()[k]) << one.alpha;
    }
  }
}

// Runs "i,j->" on vectors of `length` elements, and returns the message of the limit that it
// passes.
std::string passed_limit(Index length, const Limits& limits) {
  Net net({length});
  const std::string y = net.node("Einsum", {"x", net.constant({length})});
  net.words("equation", "i,j->");
  net.output(y);
  try {
    Session(net.model(), {.limits = limits}).run({{"x", whole({length}, 1)}});
  } catch (const Error& error) {
    EXPECT_EQ(error.kind, ErrorKind::limit);
    return error.message;
  }
  return "";
}

TEST(Products, EinsumChargesItsProducts) {
  Limits limits = Limits::trusted();
  limits.work = 900000;
  EXPECT_THAT(passed_limit(1000, limits), ::testing::HasSubstr("work"));
  limits.work = 3000000;
  EXPECT_EQ(passed_limit(1000, limits), "");
}

TEST(Products, EinsumEndsAtTheDeadline) {
  Limits limits = Limits::trusted();
  limits.milliseconds = 500;
  EXPECT_THAT(passed_limit(1000000, limits), ::testing::HasSubstr("deadline"));
}

// Twelve rows of C span more elements than 32 bits count. Only pages that are written take memory.
TEST(Products, FarRows) {
  constexpr Index rows = 13, depth = 3, columns = 40, step = 200000000;
  constexpr std::size_t bytes = sizeof(float) * rows * step;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const c = static_cast<float*>(memory);
  const Tensor a = whole({rows, depth}, 1), b = whole({depth, columns}, 2);
  const Gemm gemm(chosen_isa());
  std::vector<float> packed(static_cast<std::size_t>(gemm.packed_size(depth, columns)));
  const Index panels = gemm.panels(columns);
  gemm.pack({b.data<float>(), columns, 1, depth, columns}, nullptr, packed.data(), 0, panels);
  for (Index m = 0; m < rows; ++m) std::fill_n(c + m * step, columns, static_cast<float>(m));
  GemmProblem product;
  product.a = a.data<float>();
  product.a_row = product.depth = depth;
  product.packed = packed.data();
  product.c = c;
  product.residual = c;
  product.c_row = product.residual_row = step;
  product.columns = columns;
  gemm.run(product, 0, panels, 0, rows);
  for (Index m = 0; m < rows; ++m) {
    for (Index n = 0; n < columns; ++n) {
      auto sum = static_cast<float>(m);
      for (Index k = 0; k < depth; ++k)
        sum += a.data<float>()[m * depth + k] * b.data<float>()[k * columns + n];
      EXPECT_EQ(c[m * step + n], sum) << "row " << m << ", column " << n;
    }
  }
  munmap(memory, bytes);
}

}  // namespace
}  // namespace touchstone::optimized
