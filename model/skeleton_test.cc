// Large data left in the file until its tensor is made: the same model and errors as from a fully
// parsed message.
#include "model/skeleton.h"

#include "core/files.h"
#include "model/testing.h"

namespace touchstone::testing {
namespace {

constexpr Index large = 70000;  // in floats

pb::TensorProto weights(const std::string& name, Index floats, float first) {
  pb::TensorProto made;
  made.set_name(name);
  made.set_data_type(static_cast<int>(Type::float32));
  made.add_dims(floats);
  std::string& raw = *made.mutable_raw_data();
  for (Index k = 0; k < floats; ++k) {
    const float value = first + static_cast<float>(k);
    raw.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return made;
}

class Skeletons : public ::testing::Test {
 protected:
  Skeletons() : proto_(proto_model()) {
    *proto_.mutable_graph()->add_initializer() = weights("a", large, 1);
    *proto_.mutable_graph()->add_initializer() = weights("few", 3, 7);
    *proto_.mutable_graph()->add_initializer() = weights("b", large, 2);
  }

  pb::TensorProto& initializer(int k) { return *proto_.mutable_graph()->mutable_initializer(k); }

  std::optional<Skeleton> skeleton(const std::string& bytes) {
    folder_.write("m.onnx", bytes);
    return skeleton_of(open_trusted(folder_.path() / "m.onnx"));
  }
  Model load(const std::string& bytes, const Limits& limits = {}) {
    folder_.write("m.onnx", bytes);
    return load_model(folder_.path() / "m.onnx", limits);
  }

  // Checks that loading the file and parsing the bytes in memory give the same model.
  void same(const std::string& bytes) {
    const Model read = load(bytes), parsed = parse_model(bytes_of(bytes), {}, Limits());
    ASSERT_EQ(read.graph.initializers.size(), parsed.graph.initializers.size());
    for (const auto& [name, tensor] : parsed.graph.initializers) {
      const Tensor& other = read.graph.initializers.at(name);
      EXPECT_EQ(other.shape(), tensor.shape());
      EXPECT_TRUE(std::ranges::equal(other.bytes(), tensor.bytes())) << name;
    }
  }
  void same_error(const std::string& rule, const std::string& bytes) {
    const Error read = thrown(rule, [&] { load(bytes); });
    const Error parsed = thrown(rule, [&] { parse_model(bytes_of(bytes), {}, Limits()); });
    EXPECT_EQ(read.message, parsed.message);
  }

  pb::ModelProto proto_;
  Folder folder_;
};

TEST_F(Skeletons, LeaveLargeDataOut) {
  const std::string bytes = proto_.SerializeAsString();
  const std::optional<Skeleton> made = skeleton(bytes);
  ASSERT_TRUE(made);
  ASSERT_EQ(made->data.size(), 2u);
  EXPECT_EQ(made->data[1].initializer, 2);
  EXPECT_EQ(made->data[1].bytes.length, 4 * large);
  // Two fields lose tag and length, and three enclosing lengths are shorter.
  EXPECT_EQ(made->bytes.size() + 8 * large, bytes.size() - 2 * 4 - 3 * 2);
  same(bytes);
  EXPECT_EQ(load(bytes).graph.initializers.at("b").data<float>()[large - 1], 1 + large);
}

TEST_F(Skeletons, LeaveDataOfConstantsOut) {
  pb::GraphProto& graph = *proto_.mutable_graph();
  for (const Index floats : {large, Index{2}, large + 1}) {
    pb::NodeProto& node = *graph.add_node();
    node.set_op_type("Constant");
    node.add_output("c" + std::to_string(floats));
    node.add_attribute()->set_name("doc");
    node.mutable_attribute(0)->set_type(pb::AttributeProto::STRING);
    node.mutable_attribute(0)->set_s("nothing");
    pb::AttributeProto& value = *node.add_attribute();
    value.set_name("value");
    value.set_type(pb::AttributeProto::TENSOR);
    *value.mutable_t() = weights("", floats, static_cast<float>(floats));
  }
  const std::string bytes = proto_.SerializeAsString();
  const std::optional<Skeleton> made = skeleton(bytes);
  ASSERT_TRUE(made);
  ASSERT_EQ(made->data.size(), 4u);
  const Model read = load(bytes);
  for (const std::size_t node : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
    const Tensor& tensor = std::get<Tensor>(read.graph.nodes[node].attributes.at("value").is);
    EXPECT_EQ(tensor.data<float>()[tensor.size() - 1], static_cast<float>(2 * tensor.size() - 1));
  }
  same(bytes);
  *graph.mutable_node(2)->mutable_attribute(1)->mutable_tensors()->Add() = weights("", 1, 0);
  same_error("model/attribute-value", proto_.SerializeAsString());
}

TEST_F(Skeletons, OfWhatIsSmallThereIsNone) {
  EXPECT_FALSE(skeleton(proto_model().SerializeAsString()));
}

TEST_F(Skeletons, WhatStandsTwiceIsTheParsersWord) {
  std::string bytes = proto_.SerializeAsString();
  pb::ModelProto more;
  *more.mutable_graph()->add_initializer() = weights("c", large, 3);
  EXPECT_FALSE(
      // The parser merges a second graph into the first.
      skeleton(bytes + more.SerializeAsString()));
  same(bytes + more.SerializeAsString());

  pb::TensorProto again;
  again.set_raw_data(initializer(0).raw_data());
  again.mutable_raw_data()->replace(0, 4, "1234");
  std::string twice = initializer(0).SerializeAsString() + again.SerializeAsString();
  std::string graph = "\x2A";  // initializer
  for (std::size_t size = twice.size(); size > 0; size >>= 7)
    graph += static_cast<char>((size & 127) | (size >= 128 ? 128 : 0));
  graph += twice;
  std::string model = "\x08\x08\x3A";  // ir_version, graph
  for (std::size_t size = graph.size(); size > 0; size >>= 7)
    model += static_cast<char>((size & 127) | (size >= 128 ? 128 : 0));
  model += graph;
  ASSERT_TRUE(skeleton(model));
  EXPECT_TRUE(skeleton(model)->data.empty());
  same(model);
}

TEST_F(Skeletons, WhatIsCutOffIsNoModel) {
  const std::string bytes = proto_.SerializeAsString();
  for (const std::size_t less :
       {std::size_t{1}, std::size_t{9}, std::size_t{4 * large}, bytes.size() - 270000})
    same_error("model/parse", bytes.substr(0, bytes.size() - less));
  same_error("model/parse", bytes + "\x0F");
  same_error("model/parse", std::string(300000, '\xFF'));
}

TEST_F(Skeletons, DataThatDoesNotFitIsRefused) {
  initializer(2).set_dims(0, large + 1);
  same_error("model/tensor-data", proto_.SerializeAsString());
  initializer(2).set_dims(0, large);
  initializer(2).add_float_data(1);
  same_error("model/tensor-data", proto_.SerializeAsString());
  initializer(2).clear_float_data();
  initializer(2).set_data_type(static_cast<int>(Type::string));
  same_error("model/tensor-data", proto_.SerializeAsString());
  initializer(2).set_data_type(static_cast<int>(Type::boolean));
  initializer(2).set_dims(0, 4 * large);
  same_error("model/tensor-data", proto_.SerializeAsString());
}

TEST_F(Skeletons, ALimitOnTheFileHolds) {
  Limits limits;
  limits.file_bytes = 300000;
  const Error error = thrown("limit/file_bytes", [&] { load(proto_.SerializeAsString(), limits); });
  EXPECT_EQ(error.kind, ErrorKind::limit);
}

}  // namespace
}  // namespace touchstone::testing
