// Test helpers of model/: builders of small models, and the check that tests break every rule.
#include "model/testing.h"

#include <atomic>
#include <cstdlib>

#include "core/files.h"
#include "model/rules.h"

namespace touchstone::testing {
namespace {

void expect_rule(const Error& error, const std::string& rule) {
  rules_seen().insert(error.rule);
  EXPECT_EQ(error.rule, rule) << error.what();
  if (rule.empty()) return;
  EXPECT_FALSE(error.rule_text.empty());
  EXPECT_FALSE(error.help.empty());
}

}  // namespace

std::set<std::string>& rules_seen() {
  static std::set<std::string> seen;
  return seen;
}

EveryRuleIsBroken::EveryRuleIsBroken(std::string prefix) : prefix_(std::move(prefix)) {}

void EveryRuleIsBroken::TearDown() {
  if (GTEST_FLAG_GET(filter) != "*") return;
  for (const FormatRule& rule : format_rules()) {
    if (rule.id.substr(0, prefix_.size()) != prefix_) continue;
    EXPECT_EQ(rules_seen().count(std::string(rule.id)), 1u) << "no test breaks " << rule.id;
  }
}

ValueInfo value(std::string name, std::optional<ValueType> type,
                std::optional<std::vector<Dim>> shape) {
  return {std::move(name), std::move(type), std::move(shape)};
}

ValueInfo floats(std::string name) { return value(std::move(name), tensor_type(Type::float32)); }

Node node(std::string op, std::vector<std::string> inputs, std::vector<std::string> outputs,
          std::map<std::string, Attribute> attributes) {
  Node made;
  made.op = std::move(op);
  made.inputs = std::move(inputs);
  made.outputs = std::move(outputs);
  made.attributes = std::move(attributes);
  return made;
}

Attribute attribute(Attribute::Payload held) { return {std::move(held), ""}; }
Attribute reference(Attribute::Payload kind, std::string name) {
  return {std::move(kind), std::move(name)};
}
Attribute graph_attribute(Graph graph) {
  return attribute(std::shared_ptr<const Graph>(std::make_shared<Graph>(std::move(graph))));
}

Graph graph(std::vector<Node> nodes, std::vector<ValueInfo> inputs,
            std::vector<ValueInfo> outputs) {
  Graph made;
  made.nodes = std::move(nodes);
  for (std::size_t k = 0; k < made.nodes.size(); ++k) made.nodes[k].index = static_cast<Index>(k);
  made.inputs = std::move(inputs);
  made.outputs = std::move(outputs);
  return made;
}

Model model(Graph graph, Index opset) {
  Model made;
  made.ir_version = 10;
  made.opsets[""] = opset;
  made.graph = std::move(graph);
  return made;
}

Model chain(std::vector<Node> nodes) {
  return model(graph(std::move(nodes), {floats("X")}, {floats("Y")}));
}

std::shared_ptr<Function> function(std::string name, std::vector<std::string> inputs,
                                   std::vector<std::string> outputs, std::vector<Node> nodes) {
  auto made = std::make_shared<Function>();
  made->name = std::move(name);
  made->domain = "local";
  made->inputs = std::move(inputs);
  made->outputs = std::move(outputs);
  made->nodes = std::move(nodes);
  made->opsets = {{"", 21}, {"local", 1}};
  return made;
}

Tensor tensor(std::vector<float> values) {
  Tensor made(Type::float32, Shape{static_cast<Index>(values.size())});
  std::copy(values.begin(), values.end(), made.data<float>());
  return made;
}

Error thrown(const std::string& rule, const std::function<void()>& work) {
  try {
    work();
  } catch (Error& error) {
    expect_rule(error, rule);
    return error;
  }
  ADD_FAILURE() << "nothing was thrown, but " << rule << " was expected";
  return Error(ErrorKind::internal, "nothing was thrown");
}

Error first_breach(const std::string& rule, Model model, const Limits& limits) {
  resolve(model);
  const std::vector<Error> errors = check(model, limits);
  if (errors.empty()) {
    ADD_FAILURE() << "no breach, but " << rule << " was expected";
    return Error(ErrorKind::internal, "no breach");
  }
  expect_rule(errors.front(), rule);
  EXPECT_NE(errors.front().place, "");
  return errors.front();
}

void expect_sound(Model model, const Limits& limits) {
  resolve(model);
  for (const Error& error : check(model, limits)) {
    ADD_FAILURE() << error.rule << ": " << error.what() << ", " << error.place;
  }
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

pb::ModelProto proto_model() {
  pb::ModelProto proto;
  proto.set_ir_version(10);
  proto.add_opset_import()->set_version(21);
  proto.mutable_graph()->set_name("g");
  return proto;
}

Model parse(const pb::ModelProto& proto, const Limits& limits) {
  return parse_model(bytes_of(proto.SerializeAsString()), {}, limits);
}

Model parse(const pb::TensorProto& initializer, const Limits& limits) {
  pb::ModelProto proto = proto_model();
  *proto.mutable_graph()->add_initializer() = initializer;
  return parse(proto, limits);
}

bool stops_when_cancelled(const std::function<void()>& work) {
  std::atomic<bool> cancelled{false};
  const Budget budget(Limits(), Cancel{.flag = &cancelled});
  charge_work(1);  // polls the budget now, and then not for long
  cancelled = true;
  try {
    work();
    return false;
  } catch (const Error& error) {
    return error.kind == ErrorKind::cancelled;
  }
}

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "touchstone-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void Folder::write(const std::string& name, const std::string& text) const {
  write_atomically(path_ / name, text);
}

}  // namespace touchstone::testing
