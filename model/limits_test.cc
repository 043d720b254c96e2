// Each limit of loading and checking, just under and just over.
#include <gmock/gmock.h>
#include "core/budget.h"

#include "model/messages.h"
#include "model/testing.h"

namespace touchstone::testing {
namespace {

// Checks that `work` passes with the limit at `enough`, and that one less is refused by the limit's
// name.
template <class Limit>
void edge(const char* name, Limit Limits::*limit, Limit enough,
          const std::function<void(const Limits&)>& work) {
  Limits limits;
  limits.*limit = enough;
  EXPECT_NO_THROW(work(limits)) << name;
  limits.*limit = enough - 1;
  try {
    work(limits);
    ADD_FAILURE() << name << " is not enforced";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind, ErrorKind::limit);
    EXPECT_THAT(std::string(error.what()), ::testing::HasSubstr("'" + std::string(name) + "'"))
        << error.what();
  }
}

std::function<void(const Limits&)> parsing(const pb::ModelProto& proto) {
  return [proto](const Limits& limits) { parse(proto, limits); };
}

std::function<void(const Limits&)> checking(Model model) {
  resolve(model);
  return [model](const Limits& limits) {
    for (const Error& error : check(model, limits)) throw error;
  };
}

pb::ModelProto with_tensor(Type type, std::vector<Index> dims, int texts = 0) {
  pb::ModelProto proto = proto_model();
  pb::TensorProto& tensor = *proto.mutable_graph()->add_initializer();
  tensor.set_name("w");
  tensor.set_data_type(static_cast<int>(type));
  Index size = 1;
  for (const Index dim : dims) tensor.add_dims(dim), size *= dim;
  if (texts > 0)
    tensor.add_string_data(std::string(static_cast<std::size_t>(texts), 'x'));
  else
    tensor.set_raw_data(std::string(static_cast<std::size_t>(packed_bytes(type, size)), '\0'));
  return proto;
}

pb::ModelProto nested_graphs(int depth) {
  pb::ModelProto proto = proto_model();
  pb::GraphProto* graph = proto.mutable_graph();
  for (int k = 1; k < depth; ++k) {
    pb::AttributeProto& body = *graph->add_node()->add_attribute();
    body.set_name("body");
    body.set_type(pb::AttributeProto::GRAPH);
    graph = body.mutable_g();
  }
  return proto;
}

TEST(ModelLimits, FileBytes) {
  const pb::ModelProto proto = proto_model();
  edge("file_bytes", &Limits::file_bytes, static_cast<Index>(proto.ByteSizeLong()), parsing(proto));
}

TEST(ModelLimits, ProtobufDepth) {
  pb::ModelProto proto = proto_model();
  pb::TypeProto* type = proto.mutable_graph()->add_input()->mutable_type();
  for (int k = 0; k < 20; ++k) type = type->mutable_sequence_type()->mutable_elem_type();
  type->mutable_tensor_type()->set_elem_type(1);
  edge("protobuf_depth", &Limits::protobuf_depth, 44, parsing(proto));
}

TEST(ModelLimits, AHundredThousandLevelsAreNoCrash) {
  std::string bytes;
  for (int k = 0; k < 100'000;
       ++k) {  // groups nest without lengths: a bomb needs only two bytes per level
    bytes.push_back('\x0B');
  }
  thrown("model/parse", [&] { parse_model(bytes_of(bytes), {}, Limits()); });
}

TEST(ModelLimits, GraphDepth) {
  edge("graph_depth", &Limits::graph_depth, 7, parsing(nested_graphs(7)));
  Graph inner = graph({node("Relu", {"X"}, {"i3"})}, {}, {floats("i3")});
  for (int k = 2; k >= 1; --k) {
    const std::string name = "i" + std::to_string(k);
    inner = graph(
        {node("If", {"B"}, {name},
              {{"then_branch", graph_attribute(inner)}, {"else_branch", graph_attribute(inner)}})},
        {}, {floats(name)});
  }
  const Model deep = model(graph(
      {node("If", {"B"}, {"Y"},
            {{"then_branch", graph_attribute(inner)}, {"else_branch", graph_attribute(inner)}})},
      {floats("X"), value("B", tensor_type(Type::boolean))}, {floats("Y")}));
  edge("graph_depth", &Limits::graph_depth, 4, checking(deep));
}

TEST(ModelLimits, Nodes) {
  pb::ModelProto proto = proto_model();
  for (int k = 0; k < 3; ++k) proto.mutable_graph()->add_node();
  for (int k = 0; k < 2; ++k)
    proto.add_functions()->add_node(), proto.mutable_functions(k)->set_name(k ? "f" : "g");
  edge("nodes", &Limits::nodes, Index{5}, parsing(proto));
  edge("nodes", &Limits::nodes, Index{2},
       checking(chain({node("Relu", {"X"}, {"a"}), node("Relu", {"a"}, {"Y"})})));
}

TEST(ModelLimits, MessagesAreCountedBeforeOneIsBuilt) {
  pb::ModelProto proto = proto_model();
  const Index others = static_cast<Index>(
      charge_messages(bytes_of(proto.SerializeAsString()), "ModelProto", Limits()).count);
  for (int k = 0; k < 3; ++k) proto.mutable_graph()->add_value_info();
  // A value of a two-dimensional tensor: itself, its type, the tensor, its shape, two dimensions.
  auto* tensor = proto.mutable_graph()->add_value_info()->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(1);
  for (int k = 0; k < 2; ++k) tensor->mutable_shape()->add_dim();
  edge("messages", &Limits::messages, others + 9, parsing(proto));
  // Two bytes each: a parser would make 400 MB of them.
  const auto graph_of = [](std::size_t count, char tag) {
    std::string fields(2 * count, '\0'), length;
    for (std::size_t k = 0; k < fields.size(); k += 2) fields[k] = tag;
    for (std::size_t n = fields.size(); n > 0; n >>= 7)
      length += static_cast<char>(n < 128 ? n : (n & 127) | 128);
    return "\x08\x0a\x3a" + length + fields + "\x42\x02\x10\x15";
  };
  const Limits limits = Limits::untrusted();
  const std::string values = graph_of(2'100'000, '\x6a'), nodes = graph_of(1'000'001, '\x0a');
  thrown("limit/messages", [&] { parse_model(bytes_of(values), {}, limits); });
  thrown("limit/nodes", [&] { parse_model(bytes_of(nodes), {}, limits); });
}

TEST(ModelLimits, MemoryOfMessagesTensorsAndTexts) {
  const auto needs = [](const pb::ModelProto& proto) {
    const auto account = std::make_shared<MemoryAccount>(unlimited);
    const Budget budget(Limits(), {}, account);
    const std::string bytes = proto.SerializeAsString();
    const Model model = parse_model(bytes_of(bytes), {}, Limits());
    return account->alive();
  };
  const Index bare = needs(proto_model());
  EXPECT_GE(needs(with_tensor(Type::float32, {1000})), bare + 4000);
  EXPECT_GE(needs(with_tensor(Type::string, {}, 9000)), bare + 9000);
  Limits small;
  small.memory = 1 << 20;
  EXPECT_NO_THROW(parse(with_tensor(Type::float32, {10'000}), small));
  thrown("limit/memory", [&] { parse(with_tensor(Type::float32, {1'000'000}), small); });
  thrown("limit/memory", [&] { parse(with_tensor(Type::string, {}, 1'000'000), small); });
}

TEST(ModelLimits, RankElementsBytesAndStrings) {
  edge("rank_checked", &Limits::rank_checked, 3, parsing(with_tensor(Type::float32, {1, 1, 1})));
  edge("elements", &Limits::elements, Index{6}, parsing(with_tensor(Type::float32, {2, 3})));
  edge("bytes", &Limits::bytes, Index{24}, parsing(with_tensor(Type::float32, {2, 3})));
  edge("string_bytes", &Limits::string_bytes, Index{9}, parsing(with_tensor(Type::string, {}, 9)));
}

TEST(ModelLimits, InitializersOfACheckedModel) {
  Model made = chain({node("Add", {"X", "w"}, {"Y"})});
  made.graph.initializers.emplace("w", tensor({1, 2, 3}));
  edge("elements", &Limits::elements, Index{3}, checking(made));
}

}  // namespace
}  // namespace touchstone::testing
