// Test helpers: short builders of models, and checks for an error by its rule.
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
Attribute attribute(Attribute::Payload held);
Attribute reference(Attribute::Payload kind, std::string name);
Attribute graph_attribute(Graph graph);

// Numbers the nodes, as loading does.
Graph graph(std::vector<Node> nodes, std::vector<ValueInfo> inputs, std::vector<ValueInfo> outputs);
Model model(Graph graph, Index opset = 21);
// Unary and binary nodes on floats: X -> ... -> Y.
Model chain(std::vector<Node> nodes);
std::shared_ptr<Function> function(std::string name, std::vector<std::string> inputs,
                                   std::vector<std::string> outputs, std::vector<Node> nodes);

Tensor tensor(std::vector<float> values);

// Returns the error that `work` throws. Checks that its rule is `rule` and that it has a place and
// help.
Error thrown(const std::string& rule, const std::function<void()>& work);
// Returns the first error that check() reports on the model, once resolved.
Error first_breach(const std::string& rule, Model model, const Limits& limits = {});
void expect_sound(Model model, const Limits& limits = {});

// Rules cited by the errors of this test program, and a check at its end that none was left out. A
// rule that no test breaks may not work.
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

// True if `work` stops soon after cancellation: within some dozen nodes, not after the tens of
// thousands of operations between two checks of the operation count.
bool stops_when_cancelled(const std::function<void()>& work);

// A temporary folder, removed when the test ends.
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
