// Tests the families of elements of any type and of data movement by fed bounds.
#include <gmock/gmock.h>

#include <bit>

#include "optimized/lowering/flow_testing.h"

namespace touchstone::optimized::flow {
namespace {

const std::vector<Index> some{1, -3, 7, 100, -128, 64, 2, -1, 3, 12345, 5};

const std::vector<std::pair<Shape, Shape>> pairs_of_shapes{
    {{3, 5}, {3, 5}}, {{3, 5}, {5}}, {{3, 1}, {1, 5}}, {{}, {4, 1, 3}},
    {{7}, {}},        {{0, 3}, {3}}, {{}, {}},         {{2, 1, 3000}, {4, 1}}};

TEST(Elements, PairsOfIntegers) {
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Mod", "Equal", "Less", "LessOrEqual",
                         "Greater", "GreaterOrEqual", "Min", "Max"}) {
    for (const Type type : integer_types) {
      for (const auto& [a, b] : pairs_of_shapes) {
        const std::string kernels = same(
            Build().node(op, {"a", "b"}, {"y"}).out("y"),
            {{"a", numbers(type, a, some)}, {"b", numbers(type, b, {3, -2, 5, -1, 127, 9, -128})}});
        EXPECT_EQ(kernels, "elements " + std::string(op) + "; ");
      }
    }
  }
}

TEST(Elements, ExtremesOfFloats) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> numbers{0.0, -0.0, nan, infinity, -infinity, 1.5, -2.5};
  const auto count = static_cast<Index>(numbers.size());
  const auto filled = [&](Type type, const Shape& shape) {
    Tensor made(type, shape);
    for (Index k = 0; k < made.size(); ++k) {
      const double number = numbers[static_cast<std::size_t>(k % count)];
      if (type == Type::float32)
        made.data<float>()[k] = static_cast<float>(number);
      else
        made.data<double>()[k] = number;
    }
    return made;
  };
  for (const char* op : {"Min", "Max"}) {
    for (const Type type : {Type::float32, Type::float64}) {
      for (const Shape& b : {Shape{count, 1}, Shape{count, count}, Shape{}}) {
        EXPECT_EQ(same(Build().node(op, {"a", "b"}, {"y"}).out("y"),
                       {{"a", filled(type, {1, count})}, {"b", filled(type, b)}}),
                  "elements " + std::string(op) + "; ");
        same(Build().node(op, {"b", "a"}, {"y"}).out("y"),
             {{"a", filled(type, {1, count})}, {"b", filled(type, b)}});
      }
    }
  }
}

TEST(Elements, RemaindersOfTheDividend) {
  for (const Type type : integer_types) {
    same(Build().node("Mod", {"a", "b"}, {"y"}, {{"fmod", integer(1)}}).out("y"),
         {{"a", numbers(type, {11}, some)}, {"b", numbers(type, {11}, {3, -2, 5, -1, 127})}});
  }
}

TEST(Elements, DivisionByZeroIsTheReferencesError) {
  for (const char* op : {"Div", "Mod"}) {
    same(Build().node(op, {"a", "b"}, {"y"}).out("y"),
         {{"a", numbers(Type::int32, {4}, some)}, {"b", numbers(Type::int32, {4}, {1, 2, 0, 3})}});
  }
}

TEST(Elements, ShapesThatDoNotBroadcastAreTheReferencesError) {
  same(Build().node("Add", {"a", "b"}, {"y"}).out("y"),
       {{"a", numbers(Type::int64, {4}, some)}, {"b", numbers(Type::int64, {3}, some)}});
}

TEST(Elements, ComparisonsOfFloatsWithSpecials) {
  for (const char* op : {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"}) {
    const std::string kernels =
        same(Build().node(op, {"a", "b"}, {"y"}).out("y"),
             {{"a", with_specials(whole({6, 40}, 1))}, {"b", with_specials(whole({40}, 2))}});
    EXPECT_EQ(kernels, "elements " + std::string(op) + "; ");
  }
}

TEST(Elements, TruthValues) {
  for (const char* op : {"And", "Or", "Xor", "Equal"}) {
    for (const auto& [a, b] : pairs_of_shapes)
      same(Build().node(op, {"a", "b"}, {"y"}).out("y"),
           {{"a", numbers(Type::boolean, a, {1, 0, 0})}, {"b", numbers(Type::boolean, b, {0, 1})}});
  }
  same(Build().node("Not", {"a"}, {"y"}).out("y"), {{"a", numbers(Type::boolean, {9}, {1, 0})}});
}

TEST(Elements, NotANumber) {
  constexpr Index nan = 0x7fc00000, infinity = 0x7f800000;  // float32
  const Tensor bits = numbers(Type::int32, {3, 11}, {0, nan, 5, infinity, -1, 0x3f800000});
  Tensor floats(Type::float32, {3, 11}), doubles(Type::float64, {3, 11});
  for (Index k = 0; k < bits.size(); ++k) {
    floats.data<float>()[k] = std::bit_cast<float>(bits.data<std::int32_t>()[k]);
    doubles.data<double>()[k] = static_cast<double>(floats.data<float>()[k]);
  }
  same(Build().node("IsNaN", {"a"}, {"y"}).out("y"), {{"a", floats}});
  same(Build().node("IsNaN", {"a"}, {"y"}).out("y"), {{"a", doubles}});
}

TEST(Elements, OneOperand) {
  for (const Type type : integer_types) {
    const Feeds feeds{{"a", numbers(type, {3, 11}, some)}};
    if (facts(type).is_signed) same(Build().node("Neg", {"a"}, {"y"}).out("y"), feeds);
    same(Build().node("Abs", {"a"}, {"y"}).out("y"), feeds);
    for (const Type to :
         {Type::int8, Type::uint16, Type::int32, Type::uint64, Type::int64, Type::boolean}) {
      same(Build().node("Cast", {"a"}, {"y"}, {{"to", integer(static_cast<Index>(to))}}).out("y"),
           feeds);
    }
  }
  same(Build().node("Cast", {"a"}, {"y"}, {{"to", integer(7)}}).out("y"),
       {{"a", numbers(Type::boolean, {9}, {1, 0})}});
}

TEST(Elements, SelectionsOfAnyType) {
  const std::vector<std::array<Shape, 3>> shapes{
      {Shape{3, 4}, Shape{3, 4}, Shape{3, 4}}, {Shape{3, 1}, Shape{4}, Shape{}},
      {Shape{}, Shape{3, 4}, Shape{4}},        {Shape{4}, Shape{}, Shape{3, 4}},
      {Shape{2, 1}, Shape{1, 3}, Shape{1}},    {Shape{4}, Shape{}, Shape{}}};
  for (const Type type : {Type::boolean, Type::uint8, Type::float16, Type::float32, Type::int32,
                          Type::float64, Type::int64}) {
    for (const auto& [which, a, b] : shapes) {
      const std::string kernels = same(Build().node("Where", {"w", "a", "b"}, {"y"}).out("y"),
                                       {{"w", numbers(Type::boolean, which, {1, 0, 0, 1})},
                                        {"a", numbers(type, a, some)},
                                        {"b", numbers(type, b, {9, 8})}});
      EXPECT_EQ(kernels, "elements Where; ");
    }
  }
}

constexpr Type moved_types[] = {Type::boolean, Type::int8,    Type::float16, Type::float32,
                                Type::int32,   Type::float64, Type::int64};

TEST(Moves, SlicesByFedBounds) {
  for (const Type type : moved_types) {
    for (const auto& [starts, ends, axes, steps] :
         std::vector<std::array<std::vector<Index>, 4>>{{{{1}, {3}, {0}, {1}}},
                                                        {{{-1}, {-9}, {-1}, {-2}}},
                                                        {{{0, 4}, {99, 0}, {1, 2}, {2, -1}}},
                                                        {{{2}, {1}, {0}, {1}}},
                                                        {{{0}, {4}, {3}, {1}}},
                                                        {{{0, 0}, {1, 1}, {1, 1}, {1, 1}}},
                                                        {{{0}, {4}, {1}, {0}}},
                                                        {{{0}, {4}, {1}, {INT64_MAX}}}}) {
      same(Build().node("Slice", {"x", "s", "e", "a", "t"}, {"y"}).out("y"),
           {{"x", numbers(type, {4, 3, 6}, some)},
            {"s", list(starts)},
            {"e", list(ends)},
            {"a", list(axes)},
            {"t", list(steps)}});
    }
  }
}

TEST(Moves, SlicesOfEmptyAxesBackwards) {
  for (const Shape& shape : {Shape{0, 3}, Shape{3, 0}, Shape{0, 1'000'000}}) {
    for (const Index start : {-1, 0, 5}) {
      for (const Index step : {-1, -2}) {
        const std::string kernels =
            same(Build().node("Slice", {"x", "s", "e", "a", "t"}, {"y"}).out("y"),
                 {{"x", numbers(Type::int32, shape, some)},
                  {"s", list({start})},
                  {"e", list({INT64_MIN})},
                  {"a", list({shape[0] == 0 ? 0 : 1})},
                  {"t", list({step})}});
        EXPECT_EQ(kernels, "moves Slice; ");
      }
    }
  }
}

TEST(Moves, UpdatesWithoutElements) {
  constexpr Index many = Index{1} << 40;
  const std::vector<std::array<Shape, 3>> shapes{{Shape{0}, Shape{many, 0}, Shape{many, 0}},
                                                 {Shape{3, 0}, Shape{2, 1}, Shape{2, 0}}};
  for (const auto& [data, indices, updates] : shapes) {
    const std::string kernels = same(Build().node("ScatterND", {"x", "i", "u"}, {"y"}).out("y"),
                                     {{"x", numbers(Type::int32, data, some)},
                                      {"i", numbers(Type::int64, indices, {99})},
                                      {"u", numbers(Type::int32, updates, some)}});
    EXPECT_EQ(kernels, "scatter slices; ");
  }
}

TEST(Moves, ClassesWithoutBoxes) {
  constexpr Index many = 1'048'576;
  const Build build = Build().node("NonMaxSuppression", {"b", "s", "m"}, {"y"}).out("y");
  for (const auto& [batches, classes, boxes, most] : std::vector<std::array<Index, 4>>{
           {many, many, 0, 1}, {1, many * many, 0, 1}, {1, 1, 2, 0}, {1, 1, 2, -1}}) {
    const std::string kernels =
        same(build, {{"b", numbers(Type::float32, {batches, boxes, 4}, some)},
                     {"s", numbers(Type::float32, {batches, classes, boxes}, some)},
                     {"m", list({most})}});
    EXPECT_EQ(kernels, "non-max suppression; ");
  }
}

TEST(Moves, ComparisonsOfBoxesAreCharged) {
  constexpr Index many = 2048;
  Tensor boxes(Type::float32, {1, many, 4});  // apart from each other
  for (Index k = 0; k < many; ++k) {
    const auto left = static_cast<float>(2 * k);
    const std::array<float, 4> box{0, left, 1, left + 1};
    std::copy(box.begin(), box.end(), boxes.data<float>() + 4 * k);
  }
  const Feeds feeds{
      {"b", boxes}, {"s", numbers(Type::float32, {1, 1, many}, some)}, {"m", list({many})}};
  Session session(
      model_of(Build().node("NonMaxSuppression", {"b", "s", "m"}, {"y"}).out("y"), feeds),
      {.threads = 1});
  Limits limits;
  limits.work = many * many / 4;
  const Budget budget(limits);
  const std::string made = outcome([&] { return session.run(feeds); });
  EXPECT_THAT(made, ::testing::HasSubstr("'work'"));
}

TEST(Moves, ConditionsOfAnyByte) {
  Tensor condition(Type::boolean, {4});
  const std::array<int, 4> held{2, 0, 1, 255};
  for (std::size_t k = 0; k < held.size(); ++k) condition.bytes()[k] = std::byte(held[k]);
  const Feeds feeds{{"x", list({10, 11, 12, 13})}, {"c", condition}};
  Session session(model_of(Build().node("Compress", {"x", "c"}, {"y"}).out("y"), feeds),
                  {.threads = 1});
  EXPECT_EQ(bits(session.run(feeds).at("y")), bits(list({10, 12, 13})));
}

TEST(Moves, RowsByFedIndices) {
  for (const Type type : moved_types) {
    for (const Type by : {Type::int32, Type::int64}) {
      for (const Index axis : {0, 1, -1}) {
        for (const std::vector<Index>& indices : std::vector<std::vector<Index>>{
                 {0, -1, 2, 1}, {1, 1, -3, 0}, {3, 0, 0, 0}, {-4, 0, 0, 0}}) {
          const std::string kernels =
              same(Build().node("Gather", {"x", "i"}, {"y"}, {{"axis", integer(axis)}}).out("y"),
                   {{"x", numbers(type, {3, 4, 3}, some)}, {"i", numbers(by, {2, 2}, indices)}});
          const bool inside = indices[0] != 3 && indices[0] != -4;
          if (inside) {
            EXPECT_EQ(kernels, "moves Gather; ");
          }
        }
      }
    }
  }
}

TEST(Moves, RowsOfEmptyTensors) {
  for (const auto& [shape, indices] :
       std::vector<std::pair<Shape, Shape>>{{{0, 3}, {2}}, {{3, 0}, {2}}, {{3, 2}, {0}}}) {
    same(Build().node("Gather", {"x", "i"}, {"y"}).out("y"),
         {{"x", numbers(Type::int32, shape, some)}, {"i", numbers(Type::int64, indices, {0})}});
  }
}

TEST(Moves, RepetitionsByFedCounts) {
  for (const Type type : moved_types) {
    for (const std::vector<Index>& to :
         std::vector<std::vector<Index>>{{2, 3, 4}, {3, 1}, {0, 3, 4}, {5, 4}, {-1}, {}}) {
      same(Build().node("Expand", {"x", "s"}, {"y"}).out("y"),
           {{"x", numbers(type, {3, 1}, some)}, {"s", list(to)}});
    }
    for (const std::vector<Index>& times :
         std::vector<std::vector<Index>>{{2, 3}, {1, 1}, {0, 3}, {1}, {-1, 2}}) {
      same(Build().node("Tile", {"x", "s"}, {"y"}).out("y"),
           {{"x", numbers(type, {3, 2}, some)}, {"s", list(times)}});
    }
    same(Build().node("Tile", {"x", "s"}, {"y"}).out("y"),
         {{"x", numbers(type, {3}, some)}, {"s", numbers(Type::int64, {}, {2})}});
  }
}

TEST(Moves, ConcatenationsAndPermutations) {
  for (const Type type : moved_types) {
    for (const Index axis : {0, 1, -1}) {
      Shape other{2, 3, 4}, empty{2, 3, 4};
      other[axis < 0 ? 2 : axis] = 5;
      empty[axis < 0 ? 2 : axis] = 0;
      same(Build().node("Concat", {"a", "b", "c"}, {"y"}, {{"axis", integer(axis)}}).out("y"),
           {{"a", numbers(type, {2, 3, 4}, some)},
            {"b", numbers(type, other, some)},
            {"c", numbers(type, empty, some)}});
    }
    for (const std::vector<Index>& order :
         std::vector<std::vector<Index>>{{2, 0, 1}, {0, 2, 1}, {0, 1, 2}}) {
      same(Build().node("Transpose", {"x"}, {"y"}, {{"perm", integers(order)}}).out("y"),
           {{"x", numbers(type, {3, 40, 5}, some)}});
    }
    same(Build().node("Transpose", {"x"}, {"y"}).out("y"), {{"x", numbers(type, {7, 9}, some)}});
  }
}

TEST(Views, OfAnyType) {
  for (const Type type : {Type::boolean, Type::int8, Type::float16, Type::float32, Type::int64}) {
    const Feeds x{{"x", numbers(type, {2, 6}, some)}};
    Build fed = Build().hold("s", list({3, -1})).node("Reshape", {"x", "s"}, {"y"}).out("y");
    EXPECT_THAT(same(fed, x), ::testing::HasSubstr(type == Type::float32 ? "copy" : "view"));
    Build computed = Build()
                         .hold("s", list({3, -1}))
                         .node("Transpose", {"x"}, {"a"})
                         .node("Reshape", {"a", "s"}, {"b"})
                         .node("Transpose", {"b"}, {"y"})
                         .out("b")
                         .out("y");
    EXPECT_THAT(same(computed, x), ::testing::Not(::testing::HasSubstr("reference")));
    same(Build().hold("s", list({0, 3})).node("Reshape", {"x", "s"}, {"y"}).out("y"),
         {{"x", numbers(type, {0, 3}, some)}});
  }
}

}  // namespace
}  // namespace touchstone::optimized::flow
