// Loading from bytes: versions, attributes, types, duplicate names, and peculiarities of real
// files.
#include "core/files.h"
#include "model/testing.h"

namespace touchstone::testing {
namespace {

pb::AttributeProto& add_attribute(pb::ModelProto& proto, pb::AttributeProto::AttributeType type) {
  pb::NodeProto& node = *proto.mutable_graph()->add_node();
  node.set_op_type("Relu");
  pb::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name("a");
  attribute.set_type(type);
  return attribute;
}

const Attribute& only_attribute(const Model& model) {
  return model.graph.nodes[0].attributes.at("a");
}

TEST(Load, WhatIsNoModel) {
  for (const std::string& bytes :
       {std::string("garbage"), std::string(1, '\x0A'), std::string(100, '\xFF')}) {
    EXPECT_EQ(thrown("model/parse", [&] { parse_model(bytes_of(bytes), {}, Limits()); }).kind,
              ErrorKind::invalid_model);
  }
  thrown("model/ir-version", [] { parse_model({}, {}, Limits()); });
}

TEST(Load, VersionsOfTheFormat) {
  pb::ModelProto proto = proto_model();
  proto.set_ir_version(pb::IR_VERSION);
  EXPECT_EQ(parse(proto).ir_version, pb::IR_VERSION);
  proto.set_ir_version(pb::IR_VERSION + 1);
  EXPECT_EQ(thrown("model/ir-unknown", [&] { parse(proto); }).kind, ErrorKind::unsupported);
  proto.set_ir_version(-3);
  thrown("model/ir-version", [&] { parse(proto); });
}

TEST(Load, ImportsOfOneDomainAgree) {
  pb::ModelProto proto = proto_model();
  proto.add_opset_import()->set_domain("ai.onnx");
  proto.mutable_opset_import(1)->set_version(21);
  EXPECT_EQ(parse(proto).opsets, (std::map<std::string, Index>{{"", 21}}));
  proto.mutable_opset_import(1)->set_version(20);
  thrown("model/opset-twice", [&] { parse(proto); });
}

TEST(Load, BeforeVersionThreeThereIsOpsetOne) {
  pb::ModelProto proto = proto_model();
  proto.clear_opset_import();
  proto.set_ir_version(2);
  EXPECT_EQ(parse(proto).opsets.at(""), 1);
  proto.set_ir_version(3);
  EXPECT_TRUE(parse(proto).opsets.empty());
}

TEST(Load, NodesAreAsInTheFile) {
  pb::ModelProto proto = proto_model();
  pb::NodeProto& node = *proto.mutable_graph()->add_node();
  node.set_domain("ai.onnx");
  node.set_op_type("Clip");
  node.set_overload("o");
  node.add_input("x");
  node.add_input("");
  const Model model = parse(proto);
  EXPECT_EQ(model.graph.nodes[0].domain, "");
  EXPECT_EQ(model.graph.nodes[0].overload, "o");
  EXPECT_EQ(model.graph.nodes[0].inputs, (std::vector<std::string>{"x", ""}));
}

TEST(Load, AttributesWithoutATypeAreWhatTheyHold) {
  pb::ModelProto proto = proto_model();
  add_attribute(proto, pb::AttributeProto::UNDEFINED).add_ints(3);
  EXPECT_EQ(std::get<std::vector<Index>>(only_attribute(parse(proto)).is), std::vector<Index>{3});
  pb::ModelProto empty = proto_model();
  add_attribute(empty, pb::AttributeProto::UNDEFINED);
  thrown("model/attribute-value", [&] { parse(empty); });
}

TEST(Load, AnAttributeHoldsOneValueOfItsType) {
  pb::ModelProto two = proto_model();
  add_attribute(two, pb::AttributeProto::INT).set_f(1);
  thrown("model/attribute-value", [&] { parse(two); });
  pb::ModelProto none = proto_model();
  add_attribute(none, pb::AttributeProto::TENSOR);
  const Error error = thrown("model/attribute-value", [&] { parse(none); });
  EXPECT_EQ(error.place, "attribute 'a', node #0 (Relu), main graph");
  pb::ModelProto zero = proto_model();
  add_attribute(zero, pb::AttributeProto::INT);
  EXPECT_EQ(std::get<Index>(only_attribute(parse(zero)).is), 0);
}

TEST(Load, ReferencesKeepTheirKind) {
  pb::ModelProto proto = proto_model();
  add_attribute(proto, pb::AttributeProto::TENSOR).set_ref_attr_name("outer");
  const Model model = parse(proto);
  EXPECT_EQ(only_attribute(model).reference, "outer");
  EXPECT_TRUE(std::holds_alternative<Tensor>(only_attribute(model).is));
}

TEST(Load, NamesStandOnce) {
  pb::ModelProto attributes = proto_model();
  add_attribute(attributes, pb::AttributeProto::INT);
  pb::NodeProto& node = *attributes.mutable_graph()->mutable_node(0);
  *node.add_attribute() = node.attribute(0);
  thrown("model/attribute-twice", [&] { parse(attributes); });
  pb::ModelProto initializers = proto_model();
  for (int k = 0; k < 2; ++k) {
    pb::TensorProto& tensor = *initializers.mutable_graph()->add_initializer();
    tensor.set_name("w");
    tensor.set_data_type(1);
    tensor.add_float_data(1);
  }
  thrown("model/initializer-twice", [&] { parse(initializers); });
  pb::ModelProto functions = proto_model();
  for (int k = 0; k < 2; ++k) functions.add_functions()->set_name("f");
  thrown("model/function-twice", [&] { parse(functions); });
}

TEST(Load, TypesOfInputs) {
  pb::ModelProto proto = proto_model();
  pb::ValueInfoProto& input = *proto.mutable_graph()->add_input();
  input.set_name("x");
  auto& inner =
      *input.mutable_type()->mutable_sequence_type()->mutable_elem_type()->mutable_optional_type();
  inner.mutable_elem_type()->mutable_tensor_type()->set_elem_type(7);
  EXPECT_EQ(text(*parse(proto).graph.inputs[0].type), "seq(optional(tensor(int64)))");
  inner.mutable_elem_type()->mutable_tensor_type()->set_elem_type(0);
  thrown("model/tensor-type", [&] { parse(proto); });
  inner.mutable_elem_type()->mutable_tensor_type()->set_elem_type(77);
  thrown("model/type-unknown", [&] { parse(proto); });
  input.mutable_type()->mutable_opaque_type()->set_name("o");
  EXPECT_EQ(thrown("model/type-unknown", [&] { parse(proto); }).place, "input 'x', main graph");
  input.clear_type();
  EXPECT_FALSE(parse(proto).graph.inputs[0].type.has_value());
}

TEST(Load, WhatConvertersWriteForAnOpenDimension) {
  pb::ModelProto proto = proto_model();
  pb::ValueInfoProto& input = *proto.mutable_graph()->add_input();
  input.set_name("x");
  auto& tensor = *input.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(1);
  for (const int size : {-1, 3}) tensor.mutable_shape()->add_dim()->set_dim_value(size);
  for (const char* const symbol : {"?", "N"})
    tensor.mutable_shape()->add_dim()->set_dim_param(symbol);
  const std::vector<Dim> dims = *parse(proto).graph.inputs[0].shape;
  ASSERT_EQ(dims.size(), 4u);
  EXPECT_EQ(dims[2].symbol, "");
  EXPECT_EQ(dims[3].symbol, "N");
  EXPECT_FALSE(dims[0].size.has_value());
  EXPECT_EQ(dims[1].size, 3);
}

TEST(Load, AMissingFile) {
  EXPECT_EQ(thrown("", [] { load_model("/no/such/file.onnx", Limits()); }).kind, ErrorKind::file);
}

TEST(Load, WhatIsToRunMayHoldInitializersThatAreNoInputs) {
  pb::ModelProto proto = proto_model();
  proto.set_ir_version(3);
  pb::TensorProto& held = *proto.mutable_graph()->add_initializer();
  held.set_name("w");
  held.set_data_type(1);
  held.add_float_data(2);
  const Folder folder;
  folder.write("old.onnx", proto.SerializeAsString());
  const std::filesystem::path file = folder.path() / "old.onnx";
  EXPECT_EQ(load_model(file, Limits()).ir_version, 3);
  EXPECT_EQ(load_valid(file, Limits()).ir_version, 4);
}

// Initializers are looked up among the inputs by hash: a linear search would be quadratic here.
TEST(Load, ManyInputsWithDefaultsOfAnOldFormat) {
  pb::ModelProto proto = proto_model();
  proto.set_ir_version(3);
  for (int k = 0; k < 50'000; ++k) {
    const std::string name = "an_input_with_a_default_" + std::to_string(k);
    proto.mutable_graph()->add_input()->set_name(name);
    proto.mutable_graph()
        ->mutable_input()
        ->rbegin()
        ->mutable_type()
        ->mutable_tensor_type()
        ->set_elem_type(1);
    pb::TensorProto& tensor = *proto.mutable_graph()->add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(1);
    tensor.add_float_data(1);
    tensor.add_dims(1);
  }
  const Folder folder;
  folder.write("m.onnx", proto.SerializeAsString());
  EXPECT_EQ(load_valid(folder.path() / "m.onnx", {}).ir_version, 3);
}

TEST(Load, EveryModelOfTheWheelIsSound) {
  int models = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(ONNX_WHEEL)) {
    if (entry.path().extension() != ".onnx") continue;
    SCOPED_TRACE(entry.path().string());
    expect_sound(load_model(entry.path(), Limits::untrusted()), Limits::untrusted());
    ++models;
  }
  EXPECT_GE(models, 149);
}

}  // namespace
}  // namespace touchstone::testing
