// For tests of sessions: models built node by node, and run against the reference.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "model/model.h"
#include "optimized/session.h"
#include "reference/interpreter.h"

namespace touchstone {

// Small whole numbers, the same each time.
inline Tensor whole(Shape shape, unsigned seed) {
  std::mt19937 random(seed);
  Tensor t(Type::float32, std::move(shape));
  for (Index k = 0; k < t.size(); ++k) t.data<float>()[k] = static_cast<float>(random() % 7) - 3;
  return t;
}

inline ValueInfo info(const std::string& name, const Shape& shape) {
  ValueInfo made;
  made.name = name;
  made.type = tensor_type(Type::float32);
  made.shape.emplace();
  for (const Index size : shape) made.shape->push_back({size, ""});
  return made;
}

// A model built node by node.
class Net {
 public:
  Net(Shape input) {
    model_.ir_version = 10;
    model_.opsets[""] = 21;
    model_.graph.name = "net";
    model_.graph.inputs.push_back(info("x", input));
    input_ = std::move(input);
  }
  std::string constant(Shape shape) {
    const std::string name = "c" + std::to_string(model_.graph.initializers.size());
    model_.graph.initializers.emplace(name, whole(std::move(shape), ++seed_));
    return name;
  }
  std::string node(const std::string& op, std::vector<std::string> inputs,
                   std::map<std::string, std::vector<Index>> lists = {},
                   std::map<std::string, Index> numbers = {}) {
    Node made;
    made.op = op;
    made.index = static_cast<Index>(model_.graph.nodes.size());
    made.name = "n" + std::to_string(made.index);
    made.inputs = std::move(inputs);
    made.outputs = {"v" + std::to_string(made.index)};
    for (auto& [name, list] : lists) made.attributes[name].is = list;
    for (auto& [name, number] : numbers) made.attributes[name].is = number;
    model_.graph.nodes.push_back(made);
    return made.outputs[0];
  }
  std::string convolution(const std::string& x, Shape weights,
                          std::map<std::string, std::vector<Index>> lists = {}, Index group = 1) {
    const Index out = weights[0];
    return node("Conv", {x, constant(std::move(weights)), constant({out})}, std::move(lists),
                {{"group", group}});
  }
  std::string integers(std::vector<Index> items, Shape shape = {}) {
    if (shape.empty()) shape = {static_cast<Index>(items.size())};
    const std::string name = "c" + std::to_string(model_.graph.initializers.size());
    Tensor t(Type::int64, shape);
    std::copy(items.begin(), items.end(), t.data<std::int64_t>());
    model_.graph.initializers.emplace(name, std::move(t));
    return name;
  }
  // An attribute of the last node.
  void words(const std::string& name, const std::string& held) {
    model_.graph.nodes.back().attributes[name].is = held;
  }
  void output(const std::string& name) {
    ValueInfo made;
    made.name = name;
    made.type = tensor_type(Type::float32);
    model_.graph.outputs.push_back(made);
  }

  // Every element is as the reference makes it, with and without fusion, by one thread and by two,
  // in a first run and in a second. Returns the kernels of the fused plan.
  std::string check() {
    require_valid(model_, Limits::trusted());
    std::string kernels;
    for (const Level level : {Level::none, Level::all}) {
      for (const Index threads : {1, 2}) {
        Session session(model_,
                        {.threads = threads, .winograd = false, .passes = {.level = level}});
        for (const unsigned seed : {100U, 200U}) {
          const std::map<std::string, Value> feeds{{"x", whole(input_, seed)}};
          const std::map<std::string, Value> expected = run(model_, feeds);
          const std::map<std::string, Value> made = session.run(feeds);
          for (const auto& [name, value] : expected)
            compare(name, value.tensor(), made.at(name).tensor());
        }
        kernels.clear();
        for (const Placement& row : session.placement()) kernels += row.kernel + "; ";
      }
    }
    return kernels;
  }

 private:
  static void compare(const std::string& name, const Tensor& expected, const Tensor& made) {
    ASSERT_EQ(made.shape(), expected.shape()) << name;
    for (Index k = 0; k < expected.size(); ++k) {
      ASSERT_EQ(made.data<float>()[k], expected.data<float>()[k])
          << name << ", element " << k << " of " << text(expected.shape());
    }
  }

  Model model_;
  Shape input_;
  unsigned seed_ = 0;
};

inline const std::map<std::string, std::vector<Index>> padded{{"pads", {1, 1, 1, 1}}};

}  // namespace touchstone
