// A file's metadata after loading and saving, in bytes and against limits; fields that are lost are
// named.
#include "core/budget.h"
#include "core/files.h"
#include "model/testing.h"

namespace touchstone::testing {
namespace {

template <class Proto>
void describe(Proto& proto, const std::string& text) {
  proto.set_doc_string("about " + text);
  for (const char* key : {"b", "a", "b"}) {  // order and repetition are preserved
    pb::StringStringEntryProto& entry = *proto.add_metadata_props();
    entry.set_key(key);
    entry.set_value(text + "\xff");  // not UTF-8
  }
}

void fill(pb::ValueInfoProto& value, const std::string& name) {
  value.set_name(name);
  auto& type = *value.mutable_type()->mutable_tensor_type();
  type.set_elem_type(pb::TensorProto::FLOAT);
  auto& dim = *type.mutable_shape()->add_dim();
  dim.set_dim_param("N");
  dim.set_denotation("DATA_BATCH");
  value.mutable_type()->set_denotation("TENSOR");
  describe(value, name);
}

void fill(pb::TensorProto& tensor, Type type) {
  tensor.add_dims(1);
  tensor.set_data_type(static_cast<int>(type));
  tensor.set_raw_data(std::string(type == Type::int64 ? 8 : 4, '\0'));
}

void fill(pb::GraphProto& graph, const std::string& prefix) {
  graph.set_name(prefix);
  describe(graph, prefix);
  fill(*graph.add_output(), prefix + "y");
  fill(*graph.add_value_info(), prefix + "z");
  pb::TensorProto& tensor = *graph.add_initializer();
  fill(tensor, Type::float32);
  tensor.set_name(prefix + "w");
  describe(tensor, "w");
  pb::SparseTensorProto& sparse = *graph.add_sparse_initializer();
  fill(*sparse.mutable_values(), Type::float32);
  sparse.mutable_values()->set_name(prefix + "s");
  describe(*sparse.mutable_values(), "s");
  fill(*sparse.mutable_indices(), Type::int64);
  sparse.add_dims(4);
}

pb::NodeProto& add_node(pb::GraphProto& graph, const char* op, const char* from, const char* to) {
  pb::NodeProto& node = *graph.add_node();
  node.add_input(from);
  node.add_output(to);
  node.set_op_type(op);
  describe(node, op);
  return node;
}

// A model as saving writes it: with the empty name of the standard's domain.
pb::ModelProto plain() {
  pb::ModelProto proto = proto_model();
  proto.mutable_opset_import(0)->set_domain("");
  return proto;
}

pb::ModelProto described() {
  pb::ModelProto proto = plain();
  proto.set_producer_name("p");
  proto.set_producer_version("1.2");
  proto.set_domain("com.example");
  proto.set_model_version(0);
  describe(proto, "the model");
  pb::GraphProto& graph = *proto.mutable_graph();
  fill(*graph.add_input(), "x");
  fill(graph, "g");
  pb::AttributeProto& body = *add_node(graph, "Loop", "x", "gy").add_attribute();
  body.set_name("body");
  body.set_doc_string("about the body");
  body.set_type(pb::AttributeProto::GRAPH);
  fill(*body.mutable_g(), "inner");
  add_node(*body.mutable_g(), "Neg", "x", "innery");
  pb::FunctionProto& function = *proto.add_functions();
  function.set_name("F");
  function.set_domain("local");
  function.add_output("out");
  fill(*function.add_value_info(), "v");
  describe(function, "F");
  return proto;
}

pb::ModelProto saved(const Model& model) {
  const Folder folder;
  save_model(model, folder.path() / "m");
  pb::ModelProto proto;
  EXPECT_TRUE(proto.ParseFromString(open_trusted(folder.path() / "m").read_all(Limits())));
  return proto;
}

TEST(Metadata, IsTheSameInTheFileThatIsSaved) {
  const pb::ModelProto proto = described();
  const Model model = parse(proto);
  EXPECT_TRUE(model.unkept.empty());
  EXPECT_EQ(saved(model).SerializeAsString(), proto.SerializeAsString());
}

TEST(Metadata, IsNotMadeUpWhereTheFileHasNone) {
  const Model model = parse(plain());
  EXPECT_EQ(model.metadata, nullptr);
  EXPECT_FALSE(model.model_version);
  EXPECT_EQ(saved(model).SerializeAsString(), plain().SerializeAsString());
}

TEST(Metadata, WhatIsNotKeptIsNamed) {
  pb::ModelProto proto = proto_model();
  proto.add_training_info();
  proto.add_configuration()->set_name("two");
  pb::GraphProto& graph = *proto.mutable_graph();
  graph.add_quantization_annotation()->set_tensor_name("x");
  pb::NodeProto& node = *graph.add_node();
  node.set_op_type("Constant");
  node.add_device_configurations();
  node.mutable_unknown_fields()->append("\xf8\x07\x01");  // field 127, a varint
  pb::AttributeProto& value = *node.add_attribute();
  value.set_name("value");
  value.set_type(pb::AttributeProto::TENSOR);
  fill(*value.mutable_t(), Type::float32);
  value.mutable_t()->set_doc_string("about the value");
  const Model model = parse(proto);
  const std::set<std::string> all{"configuration",
                                  "device_configurations",
                                  "fields that the standard does not define",
                                  "metadata of tensors in attributes",
                                  "quantization_annotation",
                                  "training_info"};
  EXPECT_EQ(model.unkept, all);
  EXPECT_TRUE(parse(saved(model)).unkept.empty());
}

TEST(Metadata, CountsAsMemory) {
  constexpr Index size = Index{1} << 20;
  pb::ModelProto proto = proto_model();
  proto.mutable_graph()->add_node()->set_doc_string(std::string(size, 'd'));
  Limits limits;
  limits.memory = 4 * size;
  const Budget budget(limits);
  Model model = parse(proto, limits);
  EXPECT_GE(budget.account()->alive(), size);
  model = Model();
  EXPECT_EQ(budget.account()->alive(), 0);
  limits.memory = size + size / 2;  // the message fits, but not together with the model
  const Budget less(limits, {}, std::make_shared<MemoryAccount>(limits.memory));
  thrown("limit/memory", [&] { parse(proto, limits); });
}

}  // namespace
}  // namespace touchstone::testing
