// Tests that a graph whose refusal depends on rounding is open: a node refuses numbers that the
// target rounded otherwise, and the reference refuses them too.
#include "fuzz/examine.h"

#include <gtest/gtest.h>

#include "core/scratch.h"
#include "fuzz/testing.h"

namespace touchstone::fuzz {
namespace {

// The reference with another initializer `c`, as if a sum were rounded otherwise. Refuses every
// node of the operator `refuses`.
class Shifted : public targets::LoadedModel {
 public:
  Shifted(Model model, float c, std::string refuses)
      : model_(std::move(model)), refuses_(std::move(refuses)) {
    Tensor other(Type::float32, {1});
    other.data<float>()[0] = c;
    model_.graph.initializers.insert_or_assign("c", other);
  }
  std::vector<targets::Port> inputs() const override { return targets::ports_of(model_); }
  std::map<std::string, Value> run(const std::map<std::string, Value>& feeds) override {
    for (const Node& one : model_.graph.nodes) {
      if (one.op == refuses_)
        throw Error(ErrorKind::invalid_input, "not this").with_place("node '" + one.name + "'");
    }
    return touchstone::run(model_, feeds, {});
  }

 private:
  Model model_;
  std::string refuses_;
};

class ShiftedTarget : public targets::Target {
 public:
  ShiftedTarget(float c, std::string refuses) : c_(c), refuses_(std::move(refuses)) {}
  std::string name() const override { return "shifted"; }
  std::unique_ptr<targets::LoadedModel> load(const std::filesystem::path& file) override {
    return std::make_unique<Shifted>(load_valid(file, Limits::trusted()), c_, refuses_);
  }

 private:
  float c_;
  std::string refuses_;
};

// x + c -> Bernoulli -> Neg, of one probability.
Case probabilities(bool shown) {
  using Names = std::vector<std::string>;
  Case made;
  made.text = "a probability";
  made.model.ir_version = 10;
  made.model.opsets[""] = 22;
  Graph& graph = made.model.graph;
  graph.name = "probability";
  const auto node = [&](const std::string& op, const Names& from, const std::string& to) {
    Node one;
    one.op = op;
    one.name = "the " + op;
    one.index = static_cast<Index>(graph.nodes.size());
    one.inputs = from;
    one.outputs = {to};
    graph.nodes.push_back(one);
  };
  node("Add", {"x", "c"}, "p");
  node("Bernoulli", {"p"}, "d");
  node("Neg", {"d"}, "y");
  graph.inputs.push_back({"x", tensor_type(Type::float32), {}});
  graph.outputs.push_back({"y", tensor_type(Type::float32), {}});
  if (shown) graph.outputs.push_back({"p", tensor_type(Type::float32), {}});
  graph.initializers.emplace("c", Tensor(Type::float32, {1}));
  made.feeds = {{{"x", Tensor(Type::float32, {1})}}};
  return made;
}

std::string verdict(bool shown, float c, const std::string& refuses = "") {
  const Scratch scratch;
  const auto runner = run_in_process(std::make_unique<ShiftedTarget>(c, refuses), scratch.path());
  return std::string(examine(probabilities(shown), *runner, [](std::string_view) {}).verdict);
}

TEST(Examine, ARefusalThatRoundingDecidesIsOpen) {
  for (const bool shown : {false, true}) {
    EXPECT_EQ(verdict(shown, -1e-9F), "open");
    EXPECT_EQ(verdict(shown, 0, "Bernoulli"), "rejected-valid");
    EXPECT_EQ(verdict(shown, 0, "Add"), "rejected-valid");
  }
}

}  // namespace
}  // namespace touchstone::fuzz
