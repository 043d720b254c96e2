// Tests data movement too large to be planned by a run of the reference, and selections of few.
#include <gmock/gmock.h>

#include <array>
#include <limits>

#include "optimized/lowering/flow_testing.h"

namespace touchstone::optimized::flow {
namespace {

const std::vector<Index> some{1, -3, 7, 100, -128, 64, 2, -1, 3, 12345, 5};

// Tensors of these types, large enough that no plan runs the reference to see what moves.
const std::vector<Type> large_types{Type::uint8, Type::float16, Type::float32, Type::int64,
                                    Type::complex128};
Attribute words(const std::string& held) { return {held, {}, {}}; }

TEST(PixelBlocks, BothDirectionsAndModes) {
  for (const Type type : large_types) {
    if (type == Type::complex128) continue;  // pairs of numbers would need one dimension more
    for (const Index images : {1, 3}) {
      const Feeds feeds{{"x", numbers(type, {images, 36, 12, 18}, some)}};
      for (const Index side : {1, 2, 3}) {
        for (const char* const mode : {"DCR", "CRD"}) {
          SCOPED_TRACE(std::string(name(type)) + " " + std::to_string(side) + mode);
          EXPECT_EQ(same(Build()
                             .node("DepthToSpace", {"x"}, {"y"},
                                   {{"blocksize", integer(side)}, {"mode", words(mode)}})
                             .out("y"),
                         feeds),
                    "moves DepthToSpace; ");
        }
        EXPECT_EQ(
            same(
                Build().node("SpaceToDepth", {"x"}, {"y"}, {{"blocksize", integer(side)}}).out("y"),
                feeds),
            "moves SpaceToDepth; ");
      }
    }
  }
}

TEST(PixelBlocks, ErrorsAreTheReferences) {
  const Feeds feeds{{"x", numbers(Type::float32, {1, 35, 12, 17}, some)}};
  for (const char* const op : {"DepthToSpace", "SpaceToDepth"}) {
    for (const Index side : {2, 0, -1})
      same(Build().node(op, {"x"}, {"y"}, {{"blocksize", integer(side)}}).out("y"), feeds);
  }
}

std::string resized(const Feeds& feeds, const Tensor& scales, const Tensor& sizes,
                    const char* nearest) {
  Build build;
  std::vector<std::string> inputs{"x", "", ""};
  if (scales.size() > 0) {
    build.hold("scales", scales);
    inputs[2] = "scales";
  } else {
    build.hold("sizes", sizes);
    inputs.emplace_back("sizes");
  }
  return same(build
                  .node("Resize", inputs, {"y"},
                        {{"mode", words("nearest")},
                         {"coordinate_transformation_mode", words("asymmetric")},
                         {"nearest_mode", words(nearest)}})
                  .out("y"),
              feeds);
}

TEST(Repeats, ByScalesAndBySizes) {
  const Feeds feeds{{"x", numbers(Type::float32, {2, 3, 20, 30}, some)}};
  for (const std::vector<Index>& times :
       {std::vector<Index>{2, 2}, {1, 2}, {3, 1}, {2, 3}, {1, 4}}) {
    const Tensor scales = numbers(Type::float32, {4}, {1, 1, times[0], times[1]});
    const Tensor sizes = list({2, 3, 20 * times[0], 30 * times[1]});
    EXPECT_THAT(resized(feeds, scales, {}, "floor"), ::testing::HasSubstr("repeat rows"));
    EXPECT_THAT(resized(feeds, {}, sizes, "floor"), ::testing::HasSubstr("repeat rows"));
    resized(feeds, scales, {}, "ceil");
  }
}

TEST(Resample, NearestOfImages) {
  for (const Type type : {Type::uint8, Type::float16, Type::float32, Type::float64}) {
    const Feeds feeds{{"x", numbers(type, {2, 3, 20, 30}, some)}};
    for (const std::vector<Index>& sizes :
         {std::vector<Index>{10, 15}, {33, 47}, {20, 7}, {61, 30}, {1, 1}, {40, 45}})
      EXPECT_THAT(resized(feeds, {}, list({2, 3, sizes[0], sizes[1]}), "floor"),
                  ::testing::HasSubstr("resample"));
  }
}

TEST(Pads, LargeOnesOfEachMode) {
  for (const Type type : large_types) {
    const Feeds feeds{{"x", numbers(type, {2, 9, 12, 18}, some)}};
    for (const std::vector<Index>& pads : {std::vector<Index>{0, 0, 3, 1, 0, 0, 2, 4},
                                           {1, 2, 0, 0, 0, 0, 0, 5},
                                           {0, -1, 2, -3, 0, 4, -2, 1},
                                           {0, 1, 2, 0, 0, 2, -1, 0},
                                           {3, 0, 0, 0, 0, -9, 0, 0}}) {
      for (const char* const mode : {"constant", "edge", "reflect", "wrap"}) {
        SCOPED_TRACE(std::string(name(type)) + " " + mode);
        same(Build()
                 .hold("pads", list(pads))
                 .hold("value", numbers(type, {}, {7}))
                 .node("Pad", {"x", "pads", "value"}, {"y"}, {{"mode", words(mode)}})
                 .out("y"),
             feeds);
      }
    }
    for (const std::vector<Index>& sizes : {std::vector<Index>{9, 10}, {20, 11}, {12, 30}}) {
      EXPECT_EQ(same(Build()
                         .hold("shape", list(sizes))
                         .node("CenterCropPad", {"x", "shape"}, {"y"}, {{"axes", integers({2, 3})}})
                         .out("y"),
                     feeds),
                "pads; ");
    }
  }
}

TEST(GatherND, SlicesOfBatches) {
  for (const Type type : large_types) {
    const Feeds feeds{{"x", numbers(type, {3, 20, 15, 4}, some)}};
    const auto gathered = [&](Shape shape, Index batch, std::vector<Index> indices) {
      return same(Build()
                      .hold("i", numbers(Type::int64, std::move(shape), std::move(indices)))
                      .node("GatherND", {"x", "i"}, {"y"}, {{"batch_dims", integer(batch)}})
                      .out("y"),
                  feeds);
    };
    const std::vector<Index> inside{0, 2, -1, 1, -3, 0, 2, 1, -2};
    for (const Index length : {1, 2, 3, 4})
      EXPECT_EQ(gathered({7, 5, length}, 0, inside), "gather slices; ");
    for (const Index length : {1, 2, 3})
      EXPECT_EQ(gathered({3, 11, length}, 1, inside), "gather slices; ");
    gathered({700, 4}, 0, {0, 1, 2, 5});  // 5 is outside of the first dimension in some rows
  }
}

TEST(TopK, FewOfLongLanes) {
  for (const Type type : {Type::float32, Type::float64, Type::float16, Type::int64, Type::uint8}) {
    Tensor x = numbers(type, {3, 500}, {5, -7, 100, 2, 100, -128, 0, 33, 12, 99, 1});
    for (const Index k : {1, 2, 7, 30}) {
      for (const Index largest : {0, 1}) {
        for (const Index axis : {0, 1}) {
          SCOPED_TRACE(std::string(name(type)) + " " + std::to_string(k));
          EXPECT_EQ(same(Build()
                             .hold("k", list({std::min<Index>(k, axis == 0 ? 3 : k)}))
                             .node("TopK", {"x", "k"}, {"v", "i"},
                                   {{"largest", integer(largest)}, {"axis", integer(axis)}})
                             .out("v")
                             .out("i"),
                         {{"x", x}}),
                    "top k; ");
        }
      }
    }
  }
}

TEST(TopK, FewOfSpecialNumbers) {
  Tensor x = numbers(Type::float32, {2, 400}, some);
  constexpr std::array specials{std::numeric_limits<float>::quiet_NaN(), -0.0F, 0.0F,
                                std::numeric_limits<float>::infinity(),
                                -std::numeric_limits<float>::infinity()};
  for (std::size_t k = 0; k < specials.size(); ++k) {
    for (Index at = static_cast<Index>(k); at < x.size(); at += 31 + static_cast<Index>(k))
      x.data<float>()[at] = specials[k];
  }
  for (const Index k : {1, 3, 20}) {
    for (const Index largest : {0, 1}) {
      EXPECT_EQ(same(Build()
                         .hold("k", list({k}))
                         .node("TopK", {"x", "k"}, {"v", "i"}, {{"largest", integer(largest)}})
                         .out("v")
                         .out("i"),
                     {{"x", x}}),
                "top k; ");
    }
  }
}

}  // namespace
}  // namespace touchstone::optimized::flow
