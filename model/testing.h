// Short ways to write models in tests, and the one way to expect an error: by its rule.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>

#include "model/model.h"
#include "model/proto.h"

namespace touchstone::testing {

ValueInfo value(std::string name, std::optional<ValueType> type,
                std::optional<std::vector<Dim>> shape = {});
ValueInfo floats(std::string name);  // tensor(float) of unknown shape

Node node(std::string op, std::vector<std::string> inputs, std::vector<std::string> outputs,
          std::map<std::string, Attribute> attributes = {});
Attribute attribute(Attribute::Held held);
Attribute reference(Attribute::Held kind, std::string name);
Attribute graph_attribute(Graph graph);

// Numbers the nodes, as loading does.
Graph graph(std::vector<Node> nodes, std::vector<ValueInfo> inputs, std::vector<ValueInfo> outputs);
Model model(Graph graph, Index opset = 21);
// Unary and binary nodes on floats: X -> ... -> Y.
Model chain(std::vector<Node> nodes);
std::shared_ptr<Function> function(std::string name, std::vector<std::string> inputs,
                                   std::vector<std::string> outputs, std::vector<Node> nodes);

Tensor tensor(std::vector<float> values);

// The error that `work` throws; its rule is then `rule`, and it says where and what to do.
Error thrown(const std::string& rule, const std::function<void()>& work);
// The first error that check() reports on the model, once resolved.
Error first_breach(const std::string& rule, Model model, const Limits& limits = {});
void expect_sound(Model model, const Limits& limits = {});

// The rules that errors were seen to cite, and a check at the end of a test program that none was
// left out: a rule that no test breaks is a rule that nobody knows to work.
std::set<std::string>& rules_seen();
class EveryRuleIsBroken : public ::testing::Environment {
 public:
  explicit EveryRuleIsBroken(std::string prefix);
  void TearDown() override;

 private:
  std::string prefix_;
};

std::span<const std::byte> bytes_of(const std::string& text);
Model parse(const pb::ModelProto& proto, const Limits& limits = {});
// A model with one initializer.
Model parse(const pb::TensorProto& initializer, const Limits& limits = {});
pb::ModelProto proto_model();

// True if `work` is stopped soon after its run is cancelled: after some dozen nodes, not after the
// tens of thousands of steps between two looks at what work is counted.
bool stops_when_cancelled(const std::function<void()>& work);

// A folder that goes when the test ends.
class Folder {
 public:
  Folder();
  ~Folder();
  const std::filesystem::path& path() const { return path_; }
  void write(const std::string& name, const std::string& text) const;

 private:
  std::filesystem::path path_;
};

}  // namespace touchstone::testing
