// The cost estimate that orders cases: a model whose weights are given by their shape counts as
// many as it will fill.
#include "conformance/suites/weight.h"

#include <gtest/gtest.h>

#include <array>
#include <fstream>

#include "core/scratch.h"
#include "model/proto.h"

namespace touchstone::suites {
namespace {

Index weighed(const pb::ModelProto& model, const Scratch& scratch) {
  const std::filesystem::path file = scratch.path() / "model.onnx";
  std::ofstream(file, std::ios::binary) << model.SerializeAsString();
  return weight_of_model(file);
}

pb::TensorProto& add(pb::ModelProto& model, pb::TensorProto::DataType type,
                     std::initializer_list<Index> dims) {
  pb::TensorProto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_data_type(type);
  for (const Index dim : dims) tensor.add_dims(dim);
  return tensor;
}

TEST(Weight, OfInitializersAndOfShapesThatTheySay) {
  const Scratch scratch;
  pb::ModelProto model;
  add(model, pb::TensorProto::FLOAT, {64, 3});
  EXPECT_EQ(weighed(model, scratch), 192);
  pb::TensorProto& said = add(model, pb::TensorProto::INT64, {2});
  said.add_int64_data(4096), said.add_int64_data(25088);
  EXPECT_EQ(weighed(model, scratch), 192 + 2 + 4096 * 25088);
  const std::array<Index, 3> raw{8, 8, 8};
  add(model, pb::TensorProto::INT64, {3}).set_raw_data(raw.data(), sizeof raw);
  EXPECT_EQ(weighed(model, scratch), 192 + 2 + 4096 * 25088 + 3 + 512);
}

TEST(Weight, OfWhatIsNoShapeIsThatOfTheNumbersThemselves) {
  const Scratch scratch;
  pb::ModelProto model;
  pb::TensorProto& said = add(model, pb::TensorProto::INT64, {3});
  for (const Index size : {Index{1} << 40, Index{1} << 40, Index{-1}}) said.add_int64_data(size);
  EXPECT_EQ(weighed(model, scratch), 3);
}

TEST(Weight, OfNoModelIsNone) {
  const Scratch scratch;
  EXPECT_EQ(weight_of_model(scratch.path() / "model.onnx"), 0);
  std::ofstream(scratch.path() / "model.onnx") << "no model at all";
  EXPECT_EQ(weight_of_model(scratch.path() / "model.onnx"), 0);
}

}  // namespace
}  // namespace touchstone::suites
