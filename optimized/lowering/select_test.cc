// Tests resampling and selection in sessions: the judge accepts every output, of each type and
// option, with one thread and two, and no node ran on the reference.
#include <gmock/gmock.h>

#include "core/numbers/convert.h"
#include "optimized/testing.h"

namespace touchstone::optimized {
namespace {

using Feeds = std::map<std::string, Value>;
using Attributes = std::map<std::string, Attribute>;

template <class T>
Attribute given_attribute(T value) {
  Attribute made;
  made.is = std::move(value);
  return made;
}
Attribute word(const std::string& text) { return given_attribute(text); }
Attribute number(Index value) { return given_attribute(value); }

Tensor drawn(Type type, Shape shape, unsigned seed) {
  std::mt19937 random(seed);
  Tensor t(type, std::move(shape));
  for (Index k = 0; k < t.size(); ++k)
    set_number(t, k, static_cast<long double>(random() % 400) / 4, Saturate::yes);
  return t;
}
Tensor list(std::vector<std::int64_t> items, Shape shape = {}) {
  if (shape.empty()) shape = {static_cast<Index>(items.size())};
  Tensor t(Type::int64, std::move(shape));
  std::copy(items.begin(), items.end(), t.data<std::int64_t>());
  return t;
}
Tensor reals(std::vector<float> items, Shape shape = {}) {
  if (shape.empty()) shape = {static_cast<Index>(items.size())};
  Tensor t(Type::float32, std::move(shape));
  std::copy(items.begin(), items.end(), t.data<float>());
  return t;
}

// Runs a node whose inputs are all fed, with shapes that are unknown before the run.
void judge(const std::string& op, std::vector<std::pair<std::string, Tensor>> inputs,
           Attributes attributes, std::size_t outputs = 1, Index opset = 21) {
  Model model;
  model.ir_version = 10;
  model.opsets[""] = opset;
  model.graph.name = "one";
  Node node;
  node.op = op;
  node.attributes = std::move(attributes);
  Feeds feeds;
  for (auto& [name, tensor] : inputs) {
    node.inputs.push_back(name);
    if (name.empty()) continue;
    ValueInfo fed;
    fed.name = name;
    fed.type = tensor_type(tensor.type());
    model.graph.inputs.push_back(fed);
    feeds.emplace(name, tensor);
  }
  for (std::size_t k = 0; k < outputs; ++k) {
    ValueInfo made;
    made.name = "y" + std::to_string(k);
    node.outputs.push_back(made.name);
    made.type = tensor_type(k == 0 ? inputs[0].second.type() : Type::int64);
    if (op == "NonMaxSuppression" || op == "NonZero") made.type = tensor_type(Type::int64);
    model.graph.outputs.push_back(made);
  }
  model.graph.nodes.push_back(std::move(node));
  resolve(model);
  for (const Index threads : {1, 2}) {
    Session session(model, {.threads = threads});
    for (int again = 0; again < 2; ++again)
      EXPECT_EQ(why_refused(model, feeds, session.run(feeds)), "") << op;
    for (const Placement& row : session.placement()) EXPECT_NE(row.kernel, "reference") << op;
  }
}

constexpr std::array numbers{Type::float32, Type::float64, Type::float16, Type::bfloat16,
                             Type::int8,    Type::uint8,   Type::int32,   Type::int64};

TEST(Select, ResizeOfEachTypeAndMode) {
  for (const Type type : numbers) {
    for (const char* const mode : {"nearest", "linear", "cubic"}) {
      judge("Resize",
            {{"x", drawn(type, {2, 3, 5, 7}, 1)}, {"", {}}, {"", {}}, {"s", list({2, 3, 9, 4})}},
            {{"mode", word(mode)}});
    }
  }
}

TEST(Select, ResizeOfEachGrid) {
  const Tensor x = drawn(Type::float32, {1, 1, 6, 5}, 2), roi = reals({0, 0, 0, 0, 1, 1, 1.2F, 1});
  for (const char* const grid : {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
                                 "align_corners", "asymmetric", "tf_crop_and_resize"}) {
    for (const char* const mode : {"nearest", "linear", "cubic"}) {
      for (const float scale : {0.4F, 2.5F}) {
        judge("Resize", {{"x", x}, {"roi", roi}, {"s", reals({1, 1, scale, 1.5F})}},
              {{"mode", word(mode)},
               {"coordinate_transformation_mode", word(grid)},
               {"exclude_outside", number(mode == std::string("cubic") ? 1 : 0)},
               {"extrapolation_value", given_attribute(7.5F)}});
      }
    }
  }
}

TEST(Select, ResizeOfInnerAxesWithAntialias) {
  for (const char* const mode : {"linear", "cubic"}) {
    judge("Resize",
          {{"x", drawn(Type::float32, {1, 9, 12, 3}, 3)}, {"", {}}, {"s", reals({0.3F, 0.25F})}},
          {{"mode", word(mode)},
           {"antialias", number(1)},
           {"axes", given_attribute(std::vector<Index>{1, 2})}});
  }
}

TEST(Select, RoiAlign) {
  const Tensor x = drawn(Type::float32, {2, 35, 12, 10}, 4);
  const Tensor rois = reals({1, 1, 8, 9, -3, 0, 30, 5, 4, 4, 4.5F, 4.5F, 9, 9, 2, 2}, {4, 4});
  for (const char* const mode : {"avg", "max"}) {
    for (const Index ratio : {0, 2}) {
      judge("RoiAlign", {{"x", x}, {"rois", rois}, {"of", list({1, 0, 1, 0})}},
            {{"mode", word(mode)},
             {"sampling_ratio", number(ratio)},
             {"output_height", number(3)},
             {"output_width", number(4)},
             {"spatial_scale", given_attribute(0.75F)}});
    }
  }
}

TEST(Select, SamplesOfAGrid) {
  Tensor grid(Type::float32, {2, 3, 4, 2});
  std::mt19937 random(18);
  for (Index k = 0; k < grid.size(); ++k)
    grid.data<float>()[k] = static_cast<float>(random() % 400) / 100 - 2;
  for (const char* const mode : {"nearest", "linear", "cubic"}) {
    for (const char* const padding : {"zeros", "border", "reflection"}) {
      for (const Index aligned : {0, 1}) {
        judge("GridSample", {{"x", drawn(Type::float32, {2, 3, 5, 6}, 19)}, {"grid", grid}},
              {{"mode", word(mode)},
               {"padding_mode", word(padding)},
               {"align_corners", number(aligned)}});
      }
    }
  }
}

// Offsets between -3 and 3, thus also beyond the image.
Tensor displacements(Shape shape, unsigned seed) {
  Tensor made(Type::float32, std::move(shape));
  std::mt19937 random(seed);
  for (Index k = 0; k < made.size(); ++k)
    made.data<float>()[k] = static_cast<float>(random() % 600) / 100 - 3;
  return made;
}

TEST(Select, DeformedConvolutions) {
  const auto ints = [](std::vector<Index> items) { return given_attribute(std::move(items)); };
  const Tensor x = drawn(Type::float32, {2, 4, 13, 15}, 20),
               w = drawn(Type::float32, {6, 2, 3, 2}, 21);
  const Tensor bias = drawn(Type::float32, {6}, 22);
  for (const Index sets : {1, 2, 4}) {
    const Tensor offset = displacements({2, sets * 12, 13, 14}, 23);
    const Attributes attributes{
        {"group", number(2)}, {"offset_group", number(sets)}, {"pads", ints({1, 0, 1, 0})}};
    judge("DeformConv", {{"x", x}, {"w", w}, {"offset", offset}}, attributes);
    judge("DeformConv",
          {{"x", x},
           {"w", w},
           {"offset", offset},
           {"b", bias},
           {"mask", drawn(Type::float32, {2, sets * 6, 13, 14}, 24)}},
          attributes, 1, 22);
  }
  // More channels than a product sums at once, strides and dilations.
  judge("DeformConv",
        {{"x", drawn(Type::float32, {1, 70, 7, 9}, 25)},
         {"w", drawn(Type::float32, {5, 70, 3, 3}, 26)},
         {"offset", displacements({1, 18, 2, 5}, 27)}},
        {{"strides", ints({2, 1})}, {"dilations", ints({2, 2})}});
  judge("DeformConv",
        {{"x", drawn(Type::float32, {1, 2, 9}, 28)},
         {"w", drawn(Type::float32, {3, 2, 2}, 29)},
         {"offset", displacements({1, 2, 8}, 30)}},
        {});
  judge("DeformConv",
        {{"x", drawn(Type::float32, {1, 2, 3, 4, 5}, 31)},
         {"w", drawn(Type::float32, {3, 2, 1, 2, 2}, 32)},
         {"offset", displacements({1, 12, 3, 3, 4}, 33)}},
        {});
  // NaN and infinities reach only what reads them, with a share of zero too.
  judge("DeformConv",
        {{"x", with_specials(whole({1, 2, 8, 8}, 34))},
         {"w", drawn(Type::float32, {3, 2, 1, 1}, 35)},
         {"offset", reals(std::vector<float>(128, 0.0F), {1, 2, 8, 8})}},
        {});
  Tensor far = displacements({1, 2, 8, 8}, 36);
  far.data<float>()[3] = std::numeric_limits<float>::infinity();
  far.data<float>()[9] = -1e30F;
  judge("DeformConv",
        {{"x", with_specials(whole({1, 2, 8, 8}, 37))},
         {"w", drawn(Type::float32, {3, 2, 1, 1}, 38)},
         {"offset", far}},
        {});
}

TEST(Select, ResponsesOfNearChannels) {
  for (const Index size : {1, 2, 5, 40}) {
    for (const float beta : {0.75F, 0.5F, 1.0F, 0.3F}) {
      for (const float alpha : {0.02F, -0.02F}) {
        const Attributes attributes{{"size", number(size)},
                                    {"beta", given_attribute(beta)},
                                    {"alpha", given_attribute(alpha)},
                                    {"bias", given_attribute(1.5F)}};
        judge("LRN", {{"x", drawn(Type::float32, {2, 7, 3, 100}, 40)}}, attributes);
        judge("LRN", {{"x", with_specials(whole({1, 6, 20}, 41))}}, attributes);
      }
    }
  }
  judge("LRN", {{"x", drawn(Type::float32, {0, 3, 4}, 42)}}, {{"size", number(3)}});
  judge("LRN", {{"x", drawn(Type::float32, {5, 8}, 43)}}, {{"size", number(3)}});
}

TEST(Select, ColumnsToImages) {
  const auto ints = [](std::vector<Index> items) { return given_attribute(std::move(items)); };
  judge("Col2Im",
        {{"x", drawn(Type::float32, {2, 18, 99}, 44)}, {"i", list({11, 13})}, {"b", list({3, 3})}},
        {});
  judge("Col2Im",
        {{"x", with_specials(whole({1, 24, 30}, 45))}, {"i", list({8, 13})}, {"b", list({2, 3})}},
        {{"strides", ints({2, 2})}, {"pads", ints({1, 1, 1, 2})}, {"dilations", ints({1, 2})}});
  judge(
      "Col2Im",
      {{"x", drawn(Type::float32, {1, 8, 18}, 46)}, {"i", list({3, 4, 6})}, {"b", list({2, 2, 2})}},
      {{"strides", ints({1, 1, 3})}, {"pads", ints({0, 0, 0, 1, 0, 0})}});
}

TEST(Select, TopKOfEachTypeWithTies) {
  for (const Type type : numbers) {
    if (type == Type::bfloat16) continue;  // opset 24 is the first to take it
    for (const Index largest : {0, 1}) {
      for (const Index k : {0, 1, 5, 40})
        judge("TopK", {{"x", drawn(type, {3, 40, 2}, 5)}, {"k", list({k})}},
              {{"axis", number(1)}, {"largest", number(largest)}}, 2);
    }
  }
  Tensor x = with_specials(whole({2, 400}, 6));
  x.data<float>()[7] = -std::numeric_limits<float>::quiet_NaN();
  for (const Index largest : {0, 1})
    judge("TopK", {{"x", x}, {"k", list({100})}}, {{"largest", number(largest)}}, 2);
}

TEST(Select, LargestOfRegions) {
  const Tensor x = with_specials(whole({2, 3, 11, 14}, 41));
  const Tensor rois = reals({0, 0, 0, 13, 10, 1, 2.5F, -1.5F, 7.25F, 4,  0, 9,  9, 3,  3,
                             1, 5, 5, 5,  5,  0, -9,   -9,    -5,    -5, 1, 12, 8, 40, 30},
                            {6, 5});
  for (const std::vector<Index>& cells : {std::vector<Index>{1, 1}, {2, 3}, {7, 7}, {20, 5}}) {
    for (const float scale : {1.0F, 0.37F}) {
      judge("MaxRoiPool", {{"x", x}, {"r", rois}},
            {{"pooled_shape", given_attribute(cells)}, {"spatial_scale", given_attribute(scale)}});
    }
  }
}

TEST(Select, BoxesOfManyClasses) {
  Tensor boxes(Type::float32, {2, 60, 4}), scores = with_specials(whole({2, 5, 60}, 8));
  std::mt19937 random(9);
  for (Index k = 0; k < boxes.size(); ++k)
    boxes.data<float>()[k] = static_cast<float>(random() % 40);
  for (const Index centered : {0, 1}) {
    judge("NonMaxSuppression",
          {{"boxes", boxes}, {"scores", scores}, {"most", list({7})}, {"iou", reals({0.3F})}},
          {{"center_point_box", number(centered)}});
  }
  judge("NonMaxSuppression",
        {{"b", boxes}, {"s", scores}, {"m", list({60})}, {"i", reals({0.5F})}, {"t", reals({0})}},
        {});
}

// More boxes are kept than a vector holds; some ends are NaN, infinite or exchanged.
TEST(Select, BoxesOfWhichManyAreKept) {
  std::mt19937 random(29);
  for (const Index n : {17, 500}) {
    Tensor boxes(Type::float32, {1, n, 4}), scores = whole({1, 1, n}, 30);
    for (Index k = 0; k < boxes.size(); ++k) {
      const Index end = k % 4 < 2 ? 0 : 25;
      boxes.data<float>()[k] = static_cast<float>(random() % 30 + (k / 4 % 20) * 30 + end);
    }
    const Tensor special = with_specials(boxes);
    for (const float overlap : {0.0F, 0.3F, 1.0F}) {
      for (const Tensor& each : {boxes, special}) {
        judge("NonMaxSuppression",
              {{"b", each}, {"s", scores}, {"m", list({n})}, {"i", reals({overlap})}}, {});
      }
    }
  }
}

TEST(Select, WhatIsNotZero) {
  for (const Type type : numbers) {
    Tensor x = drawn(type, {3, 4, 9}, 10);
    for (Index k = 0; k < x.size(); k += 2) set_number(x, k, k % 4 == 0 ? 0.0L : -0.0L);
    judge("NonZero", {{"x", x}}, {});
  }
}

TEST(Select, DifferentElements) {
  for (const Type type : numbers) {
    if (type == Type::float16 || type == Type::bfloat16) continue;
    for (const Index sorted : {0, 1}) {
      for (const Shape& shape : {Shape{}, {1}, {3, 40}, {700}})
        judge("Unique", {{"x", drawn(type, shape, 31)}}, {{"sorted", number(sorted)}}, 4);
    }
  }
  Tensor x = with_specials(whole({2, 400}, 32)), far(Type::int64, {600});
  x.data<float>()[7] = -std::numeric_limits<float>::quiet_NaN();
  std::mt19937_64 random(33);
  for (Index k = 0; k < far.size(); ++k)
    far.data<std::int64_t>()[k] = static_cast<std::int64_t>(random() >> (k % 3 * 30)) * (k % 2 - 1);
  for (const Index sorted : {0, 1}) {
    judge("Unique", {{"x", x}}, {{"sorted", number(sorted)}}, 4);
    judge("Unique", {{"x", far}}, {{"sorted", number(sorted)}}, 4);
    judge("Unique", {{"x", far}}, {{"sorted", number(sorted)}});
  }
}

TEST(Select, UniqueSlices) {
  for (const Type type : {Type::float32, Type::float64, Type::int8, Type::int64}) {
    Tensor few(type, {3, 40, 2});
    for (Index k = 0; k < few.size(); ++k) set_number(few, k, k % 7 % 2 - k / 80 * (k % 4 / 3));
    for (const Index sorted : {0, 1}) {
      for (const Index axis : {0, 1, 2, -2, -3}) {
        judge("Unique", {{"x", few}}, {{"axis", number(axis)}, {"sorted", number(sorted)}}, 4);
        judge("Unique", {{"x", few}}, {{"axis", number(axis)}, {"sorted", number(sorted)}});
      }
    }
  }
  Tensor x(Type::float32, {300, 2});  // zeros of both signs are equal, and so are NaNs
  constexpr std::array some{0.0F,
                            -0.0F,
                            1.0F,
                            -1.0F,
                            std::numeric_limits<float>::quiet_NaN(),
                            -std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::infinity()};
  for (Index k = 0; k < x.size(); ++k)
    x.data<float>()[k] = some[static_cast<std::size_t>(k * k / 3) % some.size()];
  for (const Index sorted : {0, 1})
    judge("Unique", {{"x", x}}, {{"axis", number(0)}, {"sorted", number(sorted)}}, 4);
  EXPECT_THROW(judge("Unique", {{"x", x}}, {{"axis", number(2)}}, 4), Error);
}

TEST(Select, ScatteredUpdates) {
  Tensor indices(Type::int64, {3, 4, 5});
  std::mt19937 random(11);
  for (Index k = 0; k < indices.size(); ++k)
    indices.data<std::int64_t>()[k] = static_cast<std::int64_t>(random() % 12) - 6;
  for (const Type type : {Type::float32, Type::int32, Type::int64, Type::float64}) {
    for (const char* const reduction : {"none", "add", "mul", "max", "min"}) {
      judge("ScatterElements",
            {{"x", drawn(type, {3, 6, 5}, 12)}, {"i", indices}, {"u", drawn(type, {3, 4, 5}, 13)}},
            {{"axis", number(1)}, {"reduction", word(reduction)}});
      judge("ScatterND",
            {{"x", drawn(type, {3, 6, 5}, 14)},
             {"i", list({0, 5, 2, -6, 0, 5}, {3, 2})},
             {"u", drawn(type, {3, 5}, 15)}},
            {{"reduction", word(reduction)}});
    }
    judge("GatherND", {{"x", drawn(type, {3, 6, 5}, 16)}, {"i", list({-1, 2, 0}, {3, 1})}},
          {{"batch_dims", number(1)}});
  }
}

TEST(Select, CompressedSlices) {
  Tensor condition(Type::boolean, {4});
  condition.data<bool>()[1] = condition.data<bool>()[3] = true;
  for (const Type type : {Type::float32, Type::uint8, Type::complex128}) {
    Tensor x(type, {3, 6, 2});
    for (std::size_t k = 0; k < x.bytes().size(); ++k) x.bytes()[k] = std::byte(k % 100);
    judge("Compress", {{"x", x}, {"c", condition}}, {{"axis", number(-2)}});
    judge("Compress", {{"x", x}, {"c", condition}}, {});
  }
}

// A call that the kernels do not take is refused, or computed, by the reference.
TEST(Select, ThePlaceOfAnIndexOutOfRange) {
  const Tensor x = drawn(Type::float32, {3, 2}, 17);
  EXPECT_THROW(judge("GatherND", {{"x", x}, {"i", list({3}, {1, 1})}}, {}), Error);
  EXPECT_THROW(judge("TopK", {{"x", x}, {"k", list({3})}}, {}, 2), Error);
}

}  // namespace
}  // namespace touchstone::optimized
