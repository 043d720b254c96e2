// Tests kernels of single nodes against the reference and names the kernel that runs each. The data
// have exact sums, so every summation order gives the same bits. Also tests operand spans, row
// splitting and the scalar functions.
#include "optimized/kernels/rows/row_kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <random>

#include "model/model.h"
#include "optimized/kernels/rows/lanes.h"
#include "optimized/session.h"
#include "reference/interpreter.h"

namespace touchstone::optimized {
namespace {

Tensor whole(const Shape& shape, unsigned seed) {
  std::mt19937 random(seed);
  Tensor made(Type::float32, shape);
  for (Index k = 0; k < made.size(); ++k)
    made.data<float>()[k] = static_cast<float>(random() % 7) - 3;
  return made;
}

// Model of one node; all inputs are fed.
struct One {
  std::string op;
  std::vector<Shape> inputs;
  std::map<std::string, std::vector<Index>> lists = {};
  std::map<std::string, Index> numbers = {};
  Type made = Type::float32;
  std::string kernel;
};

void PrintTo(const One& one, std::ostream* out) { *out << one.op; }

Model model_of(const One& one) {
  Model model;
  model.ir_version = 10;
  model.opsets[""] = 21;
  model.graph.name = "one";
  Node node;
  node.op = one.op;
  node.name = "n";
  for (std::size_t k = 0; k < one.inputs.size(); ++k) {
    ValueInfo info;
    info.name = "x" + std::to_string(k);
    info.type = tensor_type(Type::float32);
    info.shape.emplace();
    for (const Index size : one.inputs[k]) info.shape->push_back({size, ""});
    model.graph.inputs.push_back(info);
    node.inputs.push_back(info.name);
  }
  for (const auto& [name, list] : one.lists) node.attributes[name].is = list;
  for (const auto& [name, number] : one.numbers) node.attributes[name].is = number;
  node.outputs = {"y"};
  model.graph.nodes.push_back(node);
  ValueInfo output;
  output.name = "y";
  output.type = tensor_type(one.made);
  model.graph.outputs.push_back(output);
  require_valid(model, Limits::trusted());
  return model;
}

class RowKernels : public testing::TestWithParam<One> {};

TEST_P(RowKernels, AreWhatTheReferenceSays) {
  const Model model = model_of(GetParam());
  for (const Index threads : {1, 3}) {
    Session session(model, {.threads = threads});
    for (const unsigned seed : {1U, 2U}) {
      std::map<std::string, Value> feeds;
      for (std::size_t k = 0; k < GetParam().inputs.size(); ++k)
        feeds["x" + std::to_string(k)] =
            whole(GetParam().inputs[k], seed + static_cast<unsigned>(k) * 10);
      const Tensor expected = run(model, feeds).at("y").tensor(),
                   made = session.run(feeds).at("y").tensor();
      ASSERT_EQ(made.shape(), expected.shape());
      for (Index k = 0; k < expected.size(); ++k) {
        if (GetParam().made == Type::int64) {
          ASSERT_EQ(made.data<std::int64_t>()[k], expected.data<std::int64_t>()[k]) << k;
        } else {
          ASSERT_EQ(made.data<float>()[k], expected.data<float>()[k]) << k;
        }
      }
    }
    std::string kernels;
    for (const Placement& row : session.placement()) kernels += row.kernel + ";";
    EXPECT_THAT(kernels, ::testing::HasSubstr(GetParam().kernel)) << kernels;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Operators, RowKernels,
    testing::Values(
        One{"MatMul", {{3, 4, 40}, {40, 33}}, {}, {}, Type::float32, "contraction"},
        One{"MatMul", {{3, 17, 40}, {40, 33}}, {}, {}, Type::float32, "matmul with dynamic B"},
        One{"MatMul", {{2, 1, 9, 40}, {3, 40, 50}}, {}, {}, Type::float32, "matmul with dynamic B"},
        One{"MatMul", {{5, 600}, {600, 3}}, {}, {}, Type::float32, "contraction"},
        One{"MatMul", {{2, 1, 9}, {9, 1400}}, {}, {}, Type::float32, "contraction"},
        One{"Gemm",
            {{6, 9}, {20, 6}, {20}},
            {},
            {{"transA", 1}, {"transB", 1}},
            Type::float32,
            "contraction"},
        One{"Conv",
            {{2, 4, 9, 11}, {6, 2, 3, 3}, {6}},
            {{"pads", {1, 1, 2, 0}}, {"strides", {2, 1}}},
            {{"group", 2}},
            Type::float32,
            "convolution of padded images"},
        One{"Conv",
            {{1, 2, 5, 6, 7}, {3, 2, 2, 3, 2}},
            {{"dilations", {2, 1, 1}}},
            {},
            Type::float32,
            "convolution"},
        One{"MaxPool",
            {{1, 3, 6, 5, 7}},
            {{"kernel_shape", {3, 2, 3}}, {"pads", {1, 0, 1, 1, 0, 1}}},
            {},
            Type::float32,
            "pool"},
        One{"ArgMax", {{4, 1200}}, {}, {{"axis", 1}}, Type::int64, "extremes"},
        One{"ArgMin",
            {{30, 41, 9}},
            {},
            {{"axis", 1}, {"select_last_index", 1}},
            Type::int64,
            "extremes"},
        One{"Max", {{4, 5, 6}, {5, 1}, {6}}, {}, {}, Type::float32, "elements"},
        One{"Mean", {{4, 5, 6}, {5, 1}, {6}}, {}, {}, Type::float32, "elements"}));

// A span returns the view's elements, or the other number outside of it.
TEST(Strips, ReadAlongBothWays) {
  std::vector<float> data(7 * 11);
  for (std::size_t k = 0; k < data.size(); ++k) data[k] = static_cast<float>(k) + 1;
  const View<const float> view(data.data(), Shape{7, 11}, Type::float32);
  const Row row{IndexVector{1, 0}, 9};
  const auto check = [&](auto point, bool affine) {
    const auto made = operand_span(view, row, 5, affine, point);
    float scratch[RowKernel::piece];
    for (Index c = 0; c < 5; ++c) {
      const float* along = made.along_x(c, 2, 6, scratch, -1);
      for (Index x = 2; x < 8; ++x) {
        const IndexVector at = point(row.point(x), c);
        EXPECT_EQ(along[x - 2], view.read(at, -1.0F)) << c << " " << x;
        EXPECT_EQ(made.inside(c, x), view.holds(at));
        EXPECT_EQ(made.or_else(c, x, -1.0F), view.read(at, -1.0F));
      }
    }
    for (Index x = 0; x < 9; ++x) {
      const float* along = made.along_inner(x, 1, 4, scratch, -1);
      for (Index c = 1; c < 5; ++c)
        EXPECT_EQ(along[c - 1], view.read(point(row.point(x), c), -1.0F)) << c << " " << x;
    }
  };
  check(
      [](const IndexVector& at, Index c) {
        return IndexVector{at[0] + c, at[1]};
      },
      true);  // inside
  check(
      [](const IndexVector& at, Index c) {
        return IndexVector{c * 2 - 1, at[1] + 3};
      },
      true);  // a corner is outside
  check(
      [](const IndexVector& at, Index c) {
        return IndexVector{at[0], at[1] * 2 - c};
      },
      true);  // no box is inside
  check(
      [](const IndexVector& at, Index c) {
        return IndexVector{9, at[1] + c};
      },
      true);  // nothing is inside
  check([](const IndexVector& at, Index c) { return IndexVector{(c * c) % 7, at[1]}; }, false);
}

TEST(RowKernelRows, EveryElementOnce) {
  for (const Shape& shape : {Shape{}, Shape{3000}, Shape{7, 5}, Shape{2, 3, 900}, Shape{4, 0, 2}}) {
    for (const Index step : {Index{-1}, Index{1}}) {
      if (step >= 0 && (shape.empty() || shape[0] < 2)) continue;
      ThreadPool pool(3);
      std::vector<float> memory(3 * RowKernel::piece);
      const std::vector<float*> scratch{&memory[0], &memory[RowKernel::piece],
                                        &memory[2 * RowKernel::piece]};
      RowKernelArrays arrays;
      const RowKernel row_kernel(pool, scratch, arrays);
      std::vector<float> data(static_cast<std::size_t>(count(shape)) + 1);
      std::vector<std::atomic<int>> met(data.size());
      const View<float> view(data.data(), shape, Type::float32);
      row_kernel.each_row(view, step, 1e6, [&](const Row& row, const ScratchBuffers&) {
        for (Index x = 0; x < row.length; ++x)
          ++met[static_cast<std::size_t>(view.offset(row.at) + x)];
      });
      const Index wanted = step < 0 ? count(shape) : count(shape) / shape[0];
      Index all = 0;
      for (Index k = 0; k < count(shape); ++k) {
        const bool inside = step < 0 || k / wanted == step;
        EXPECT_EQ(met[static_cast<std::size_t>(k)], inside ? 1 : 0) << text(shape) << " " << k;
        all += met[static_cast<std::size_t>(k)];
      }
      EXPECT_EQ(all, wanted);
    }
  }
}

// Half an ulp of float32 is the rounding; the double polynomials add far less than a hundredth.
TEST(Lanes, FunctionsAreRounded) {
  const auto check = [](float made, double exact, float x) {
    const auto rounded = static_cast<float>(exact);
    if (std::isnan(exact)) {
      EXPECT_TRUE(std::isnan(made)) << x;
    } else if (std::isinf(rounded) || rounded == 0) {
      EXPECT_EQ(made, rounded) << x;
    } else {
      const double ulp = std::nextafter(std::fabs(rounded), INFINITY) - std::fabs(rounded);
      EXPECT_LE(std::fabs(made - exact), 0.51 * ulp) << x;
    }
  };
  std::vector<float> all{0.0F,   -0.0F, 1.0F,   -1.0F, INFINITY, -INFINITY, NAN,
                         1e-45F, 3e38F, -3e38F, 88.8F, -103.9F,  -104.0F};
  std::mt19937 random(5);
  for (int k = 0; k < 200000; ++k) {
    const float size =
        std::ldexp(static_cast<float>(random() % 65536) + 1, static_cast<int>(random() % 44) - 36);
    all.push_back(random() % 2 == 0 ? size : -size);
  }
  for (const float x : all) {
    const double d = x;
    check(lanes::exp(x), std::exp(d), x);
    check(lanes::log(x), std::log(d), x);
    check(lanes::tanh(x), std::tanh(d), x);
    check(lanes::sigmoid(x), 1 / (1 + std::exp(-d)), x);
    check(lanes::softplus(x), d > 0 ? d + std::log1p(std::exp(-d)) : std::log1p(std::exp(d)), x);
  }
}

}  // namespace
}  // namespace touchstone::optimized
