// Tests the families of fills, of parts, of elements at fed indices and of running sums.
#include <gmock/gmock.h>

#include "optimized/lowering/flow_testing.h"

namespace touchstone::optimized::flow {
namespace {

constexpr Type moved_types[] = {Type::boolean, Type::int8,    Type::float16, Type::float32,
                                Type::int32,   Type::float64, Type::int64};
const std::vector<Index> some{1, -3, 7, 100, -128, 64, 2, -1, 3, 12345, 5};

std::string gathered(const Tensor& data, const Tensor& indices, Index axis) {
  return same(Build().node("GatherElements", {"x", "i"}, {"y"}, {{"axis", integer(axis)}}).out("y"),
              {{"x", data}, {"i", indices}});
}

TEST(GatherElements, AnyTypeAndAxis) {
  for (const Type type : moved_types) {
    for (const Type by : {Type::int32, Type::int64}) {
      for (const Index axis : {0, 1, 2, -1, -3}) {
        for (const Shape& shape : {Shape{3, 3, 3}, Shape{2, 3, 1}, Shape{1, 1, 3}, Shape{3, 0, 3}})
          EXPECT_EQ(gathered(numbers(type, {3, 3, 3}, some),
                             numbers(by, shape, {0, 2, -1, 1, -3, -2, 0}), axis),
                    "gather elements; ");
      }
    }
  }
}

TEST(GatherElements, RowsOfManyElements) {
  const Tensor data = numbers(Type::float32, {3, 70, 90}, some);
  for (const Index axis : {0, 1, 2})
    EXPECT_EQ(gathered(data, numbers(Type::int64, {3, 70, 90}, {0, 2, -1, 1, -3, -2, 0}), axis),
              "gather elements; ");
  EXPECT_EQ(gathered(numbers(Type::int16, {9}, some), numbers(Type::int32, {20000}, {3, -9, 8}), 0),
            "gather elements; ");
  EXPECT_EQ(gathered(data, numbers(Type::int64, {3, 70, 200}, {89, -90, 5}), 2),
            "gather elements; ");
}

TEST(GatherElements, ErrorsAreTheReferences) {
  const Tensor data = numbers(Type::int32, {2, 3}, some);
  for (const Index wrong : {Index{3}, Index{-4}, Index{INT64_MAX}, Index{INT64_MIN}})
    gathered(data, numbers(Type::int64, {1, 2}, {0, wrong}), 1);
  gathered(data, list({0}), 0);
  gathered(data, numbers(Type::int64, {3, 1}, {0}), 1);
  gathered(data, numbers(Type::int64, {1, 1}, {0}), 2);
  gathered(numbers(Type::int32, {2, 0}, some), numbers(Type::int64, {1, 1}, {0}), 1);
  gathered(numbers(Type::int32, {2, 0}, some), numbers(Type::int64, {2, 0}, {0}), 1);
}

TEST(Fills, OneHotOfAnyTypeAndAxis) {
  for (const Index opset : {9, 10, 11, 21}) {
    for (const Type type : moved_types) {
      for (const Type by : {Type::int32, Type::int64}) {
        for (const Index axis : {-3, -2, -1, 0, 1, 2, 3}) {
          const std::string kernels = same(
              Build().node("OneHot", {"i", "d", "v"}, {"y"}, {{"axis", integer(axis)}}).out("y"),
              {{"i", numbers(by, {3, 4}, {0, 4, -1, 2, 5, -5, -6, 1})},
               {"d", numbers(by, {}, {5})},
               {"v", numbers(type, {2}, {3, 4})}},
              opset);
          const bool broken = axis == 3 || (opset < 11 && axis < -1);
          if (!broken) {
            EXPECT_EQ(kernels, "fills OneHot; ");
          }
        }
      }
    }
  }
}

TEST(Fills, OneHotOfOddCalls) {
  const auto check = [](const Tensor& indices, const Tensor& depth, const Tensor& values) {
    return same(Build().node("OneHot", {"i", "d", "v"}, {"y"}).out("y"),
                {{"i", indices}, {"d", depth}, {"v", values}});
  };
  const Tensor values = numbers(Type::float32, {2}, {0, 1});
  EXPECT_EQ(check(numbers(Type::int64, {}, {1}), list({3}), values), "fills OneHot; ");
  EXPECT_EQ(check(list({}), list({3}), values), "fills OneHot; ");
  EXPECT_EQ(check(list({0, 1}), list({0}), values), "fills OneHot; ");
  EXPECT_EQ(check(list({INT64_MIN, INT64_MAX, 69999}), list({70000}), values), "fills OneHot; ");
  check(list({0}), list({Index{1} << 40}), values);
  check(list({0}), list({-1}), values);
  check(list({0}), list({1, 1}), values);
  check(list({0}), list({1}), numbers(Type::float32, {3}, {0, 1}));
  check(numbers(Type::uint8, {2}, {0, 1}), list({2}), values);
  check(numbers(Type::float32, {2}, {0, -1}), numbers(Type::float32, {}, {2}), values);
}

TEST(Fills, ConstantsOfFedShapes) {
  const std::vector<std::vector<Index>> shapes{{2, 3}, {}, {0, 3}, {-1}, {300, 1000}, {1}};
  for (const std::vector<Index>& shape : shapes) {
    for (const Type type : moved_types) {
      for (const Index value : {0, -3}) {
        const Attribute held{numbers(type, {1}, {value}), {}, {}};
        same(Build().node("ConstantOfShape", {"s"}, {"y"}, {{"value", held}}).out("y"),
             {{"s", list(shape)}});
      }
    }
    const std::string kernels =
        same(Build().node("ConstantOfShape", {"s"}, {"y"}).out("y"), {{"s", list(shape)}});
    if (shape != std::vector<Index>{-1}) {
      EXPECT_EQ(kernels, "fills ConstantOfShape; ");
    }
  }
  const std::vector<Index> large{Index{1} << 40, Index{1} << 40};
  same(Build().node("ConstantOfShape", {"s"}, {"y"}).out("y"), {{"s", list(large)}});
  same(Build().node("ConstantOfShape", {"s"}, {"y"}).out("y"), {{"s", list({Index{1} << 40})}});
}

TEST(Split, FedLengths) {
  const std::vector<std::vector<Index>> all{{1, 2, 3}, {0, 6, 0}, {2, 2, 2}, {6, -1, 1},
                                            {1, 2, 2}, {1, 5},    {7, 0, 0}};
  for (const Type type : moved_types) {
    for (const Index axis : {0, 1, -1, 3}) {
      for (const std::vector<Index>& lengths : all)
        same(Build()
                 .node("Split", {"x", "s"}, {"a", "b", "c"}, {{"axis", integer(axis)}})
                 .out("a")
                 .out("b")
                 .out("c"),
             {{"x", numbers(type, {6, 6, 6}, some)}, {"s", list(lengths)}});
    }
  }
  EXPECT_EQ(same(Build().node("Split", {"x", "s"}, {"a", "b"}).out("a").out("b"),
                 {{"x", numbers(Type::float32, {6, 50}, some)}, {"s", list({2, 4})}}),
            "split; ");
}

TEST(Split, LengthsOfEachVersion) {
  for (const Index opset : {2, 11, 13, 18, 21}) {
    for (const Index extent : {4, 5, 6, 9}) {
      for (const bool given : {false, true}) {
        std::map<std::string, Attribute> options;
        if (given && opset >= 18) options = {{"num_outputs", integer(3)}};
        if (given && opset < 13) options = {{"split", integers({1, extent - 3, 2})}};
        for (const Type type : {Type::int32, Type::float64, Type::boolean})
          same(Build().node("Split", {"x"}, {"a", "b", "c"}, options).out("a").out("b").out("c"),
               {{"x", numbers(type, {extent, 3}, some)}}, opset);
      }
    }
  }
}

TEST(RunningSums, AnyAxisAndDirection) {
  for (const Type type : {Type::float32, Type::float64, Type::int32, Type::int64, Type::uint32,
                          Type::uint64, Type::float16}) {
    for (const Index axis : {0, 1, 2, -1, 3}) {
      for (const Index exclusive : {0, 1, 2}) {
        for (const Index reverse : {0, 1}) {
          for (const Shape& shape : {Shape{2, 3, 4}, Shape{1, 5, 9}, Shape{3, 0, 2}}) {
            const std::string kernels =
                same(Build()
                         .node("CumSum", {"x", "a"}, {"y"},
                               {{"exclusive", integer(exclusive)}, {"reverse", integer(reverse)}})
                         .out("y"),
                     {{"x", numbers(type, shape, some)}, {"a", list({axis})}});
            if (type != Type::float16 && axis < 3 && exclusive < 2) {
              EXPECT_EQ(kernels, "running sums; ");
            }
          }
        }
      }
    }
  }
}

// Rectangles have the element type of the image, but are no elements of the result.
TEST(PlannedMoves, NotARoiAlignWithItsDefaultMode) {
  const Build build =
      Build().hold("of", list({0})).node("RoiAlign", {"x", "rois", "of"}, {"y"}).out("y");
  const Tensor x = numbers(Type::float64, {1, 1, 1, 1}, {3});
  const std::string kernels =
      same(build, {{"x", x}, {"rois", numbers(Type::float64, {1, 4}, {0, 0, 1, 1})}});
  EXPECT_THAT(kernels, ::testing::Not(::testing::HasSubstr("planned moves"))) << kernels;
}

// Rounding decides which element is nearest to a far position that is reflected.
TEST(PlannedMoves, PositionsHaveTheArithmeticOfTheGrid) {
  Tensor grid(Type::float32, {1, 30, 20, 2});
  float at = 1;
  for (Index k = 0; k < grid.size(); ++k, at = at < 1e6F ? -1.37F * at : 0.1F)
    grid.data<float>()[k] = at;
  const Build build = Build()
                          .hold("grid", grid)
                          .node("GridSample", {"x", "grid"}, {"y"},
                                {{"mode", {std::string("nearest"), {}, {}}},
                                 {"padding_mode", {std::string("reflection"), {}, {}}}})
                          .out("y");
  for (const Type type : {Type::int32, Type::uint8, Type::boolean, Type::float64}) {
    SCOPED_TRACE(name(type));
    const std::string kernels = same(build, {{"x", numbers(type, {1, 2, 7, 5}, some)}});
    EXPECT_EQ(kernels, "planned moves GridSample; ");
  }
}

TEST(RunningSums, BlocksOfNeighbours) {
  for (const Type type : {Type::float32, Type::int64}) {
    for (const Index axis : {0, 1}) {
      for (const Index reverse : {0, 1})
        EXPECT_EQ(
            same(
                Build().node("CumSum", {"x", "a"}, {"y"}, {{"reverse", integer(reverse)}}).out("y"),
                {{"x", numbers(type, {2, 3, 600}, some)}, {"a", list({axis})}}),
            "running sums; ");
    }
  }
}

TEST(RunningSums, SpecialNumbers) {
  for (const Index exclusive : {0, 1}) {
    for (const Index reverse : {0, 1}) {
      for (const Index axis : {0, 1}) {
        Net net({6, 40});
        net.specials = true;
        net.output(net.node("CumSum", {"x", net.integers({axis})}, {},
                            {{"exclusive", exclusive}, {"reverse", reverse}}));
        EXPECT_EQ(net.check(), "running sums; ");
      }
    }
  }
}

TEST(RunningSums, IntegersWrapRound) {
  for (const Index axis : {0, 1})
    same(Build().node("CumSum", {"x", "a"}, {"y"}).out("y"),
         {{"x", numbers(Type::int64, {3, 4}, {INT64_MAX, 5, INT64_MIN})},
          {"a", numbers(Type::int32, {}, {axis})}});
}

TEST(MaxUnpool, PutsElementsOfAnyTypeBack) {
  const auto ints = [](std::vector<Index> items) { return Attribute{std::move(items), {}, {}}; };
  for (const Type type : {Type::float16, Type::float32, Type::float64}) {
    const Tensor x = numbers(type, {2, 1, 2, 3}, some);
    const Tensor at =
        numbers(Type::int64, {2, 1, 2, 3}, {0, 3, -1, 9, 9, 40, 47, -48, 20, 31, 2, 11});
    const Build plain = Build()
                            .node("MaxUnpool", {"x", "i"}, {"y"},
                                  {{"kernel_shape", ints({2, 2})}, {"strides", ints({2, 2})}})
                            .out("y");
    EXPECT_EQ(same(plain, {{"x", x}, {"i", at}}), "max unpool; ");
    const Build padded = Build()
                             .node("MaxUnpool", {"x", "i", "s"}, {"y"},
                                   {{"kernel_shape", ints({2, 3})}, {"pads", ints({0, 1, 0, 0})}})
                             .out("y");
    const Tensor inside =
        numbers(Type::int64, {2, 1, 2, 3}, {0, 3, -1, 9, 9, 4, 7, -8, 2, 3, 2, 11});
    for (const std::vector<Index>& shape :
         {std::vector<Index>{2, 1, 3, 4}, {2, 1, 3, 9}, {3, 2, 5, 6}, {4, 1, 3, 4}})
      EXPECT_EQ(same(padded, {{"x", x}, {"i", inside}, {"s", list(shape)}}), "max unpool; ");
    for (const std::vector<Index>& shape :
         {std::vector<Index>{2, 1, 3, 3}, {2, 1, 3}, {1, 2, 3, 9}, {-2, 1, 3, 4}})
      same(padded, {{"x", x}, {"i", inside}, {"s", list(shape)}});
    for (const Index wrong : {Index{48}, Index{-49}, Index{INT64_MAX}, Index{INT64_MIN}})
      same(plain, {{"x", x}, {"i", numbers(Type::int64, {2, 1, 2, 3}, {0, wrong, 1})}});
    same(plain, {{"x", x}, {"i", numbers(Type::int64, {2, 1, 3, 2}, {0})}});
    same(plain, {{"x", numbers(type, {0, 1, 2, 3}, some)},
                 {"i", numbers(Type::int64, {0, 1, 2, 3}, {0})}});
  }
}

TEST(RotaryEmbedding, TurnsHeadsOfEitherLayout) {
  static constexpr Index batch = 2, heads = 3, length = 5, width = 10;
  const auto check = [](const Shape& x, Index turned, Index neighbors, bool by_position,
                        Index positions = 7) {
    const Index pairs = std::max<Index>(turned == 0 ? width : turned, 0) / 2;
    const Shape cache = by_position ? Shape{positions, pairs} : Shape{batch, length, pairs};
    std::map<std::string, Value> feeds{
        {"x", numbers(Type::float32, x, some)},
        {"c", numbers(Type::float32, cache, {1, -2, 3, 0, 5, 7, -4})},
        {"s", numbers(Type::float32, cache, {2, 1, -3, 8, 0})}};
    std::vector<std::string> inputs{"x", "c", "s"};
    if (by_position) {
      inputs.emplace_back("p");
      feeds.emplace("p", numbers(Type::int64, {batch, length}, {3, 0, -1, 6, -7, 2, 2}));
    }
    return same(Build()
                    .node("RotaryEmbedding", inputs, {"y"},
                          {{"interleaved", integer(neighbors)},
                           {"num_heads", integer(heads)},
                           {"rotary_embedding_dim", integer(turned)}})
                    .out("y"),
                std::move(feeds), 23);
  };
  for (const Shape& x : {Shape{batch, heads, length, width}, Shape{batch, length, heads * width}}) {
    for (const Index turned : {0, 10, 6, 2}) {
      for (const Index neighbors : {0, 1}) {
        EXPECT_EQ(check(x, turned, neighbors, false), "rotary embedding; ");
        EXPECT_EQ(check(x, turned, neighbors, true), "rotary embedding; ");
        check(x, turned, neighbors, true, 6);  // a position is outside
      }
    }
    check(x, 12, 0, false);
    check(x, -2, 0, false);
    check(x, 5, 0, true);
  }
  check({batch, length, heads * width + 1}, 0, 0, false);
  check({batch, heads, length + 1, width}, 0, 0, false);
  check({batch, heads, length + 1, width}, 0, 0, true);
  check({batch * length, width}, 0, 0, false);
}

}  // namespace
}  // namespace touchstone::optimized::flow
