// Test utilities for sessions: models built node by node, and comparison with the reference.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "model/model.h"
#include "optimized/judge_testing.h"
#include "optimized/kernels/paged_testing.h"
#include "optimized/registry/isa.h"
#include "optimized/session.h"
#include "reference/interpreter.h"

namespace touchstone::optimized {

// Returns small integers, the same for each seed.
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

inline bool same_bytes(const Tensor& a, const Tensor& b) {
  return std::ranges::equal(a.bytes(), b.bytes());
}

inline Tensor with_specials(Tensor t) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr std::array specials{infinity, -infinity, std::numeric_limits<float>::quiet_NaN(),
                                -0.0F};
  for (Index k = 1; k < t.size(); k += 5 + k % 7)
    t.data<float>()[k] = specials[static_cast<std::size_t>(k % 4)];
  return t;
}

// Returns a model of one node, whose output y has a declared shape, possibly a wrong one.
inline Model one_node(const std::string& op, std::vector<std::string> inputs,
                      const Shape& declared) {
  Model model;
  model.ir_version = 10;
  model.opsets[""] = 21;
  model.graph.name = "one";
  Node node;
  node.op = op;
  node.inputs = std::move(inputs);
  node.outputs = {"y"};
  model.graph.nodes.push_back(std::move(node));
  model.graph.outputs.push_back(info("y", declared));
  return model;
}

// Model built node by node.
class Net {
 public:
  bool specials = false;               // feeds contain infinities, NaN and -0
  bool overflows = false;              // intermediate sums overflow, depending on the order
  std::function<void(Tensor&)> plant;  // further changes to the feeds
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
  void opset(Index version) { model_.opsets[""] = version; }
  Tensor& held(const std::string& name) { return model_.graph.initializers.at(name); }
  std::string held(Tensor tensor) {
    const std::string name = "c" + std::to_string(model_.graph.initializers.size());
    model_.graph.initializers.emplace(name, std::move(tensor));
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
  std::string reals(const std::vector<float>& items) {
    const std::string name = "c" + std::to_string(model_.graph.initializers.size());
    Tensor t(Type::float32, {static_cast<Index>(items.size())});
    std::copy(items.begin(), items.end(), t.data<float>());
    model_.graph.initializers.emplace(name, std::move(t));
    return name;
  }
  // Names the outputs of the last node.
  void outputs(std::vector<std::string> names) {
    model_.graph.nodes.back().outputs = std::move(names);
  }
  // Sets a string attribute of the last node.
  void words(const std::string& name, const std::string& held) {
    model_.graph.nodes.back().attributes[name].is = held;
  }
  // Sets a float attribute of the last node.
  void real(const std::string& name, float held) {
    model_.graph.nodes.back().attributes[name].is = held;
  }
  void output(const std::string& name, Type type = Type::float32) {
    ValueInfo made;
    made.name = name;
    made.type = tensor_type(type);
    model_.graph.outputs.push_back(made);
  }

  Model model() const {
    Model made = model_;
    resolve(made);
    require_valid(made, Limits::trusted());
    return made;
  }

  // Checks that every element has the reference's bits: with and without fusion, with one and two
  // threads, in a first and a second run. Memory adjoins inaccessible pages on either side. If
  // Winograd's algorithm rounds, or sums overflow in another order, the judge must accept each
  // output by its nodes' bounds. Session's own defaults are tested too. Returns the kernels of the
  // fused plan, which may use Winograd.
  std::string check() {
    require_valid(model_, Limits::trusted());
    struct Given {
      std::map<std::string, Value> feeds, expected;
    };
    std::vector<Given> given;
    for (const unsigned seed : {100U, 200U}) {
      Tensor x = whole(input_, seed);
      if (plant) plant(x);
      const std::map<std::string, Value> feeds{{"x", specials ? with_specials(x) : x}};
      given.push_back({feeds, run(model_, feeds)});
    }
    std::string kernels;
    for (const Given& each : given) {
      hold(each.feeds, each.expected, Session(model_).run(each.feeds), true);
    }
    for (const transform::Level level : {transform::Level::none, transform::Level::all}) {
      for (const Index threads : {1, 2}) {
        for (const bool winograd : {false, true}) {
          const SessionOptions options{
              .threads = threads, .winograd = winograd, .passes = {.level = level}};
          Session session(model_, options);
          for (const Given& each : given) {
            const std::map<std::string, Value> made = session.run(each.feeds);
            hold(each.feeds, each.expected, made, winograd);
            if (is_sanitised) continue;
            for (const testing::Edge edge : {testing::Edge::before, testing::Edge::after})
              check_beside_pages(options, edge, each.feeds.at("x").tensor(), made);
          }
          kernels.clear();
          for (const Placement& row : session.placement()) kernels += row.kernel + "; ";
        }
      }
    }
    return kernels;
  }

 private:
  // Checks for the same bits when every feed, constant, output, buffer and scratch buffer adjoins
  // an inaccessible page.
  void check_beside_pages(SessionOptions options, testing::Edge edge, const Tensor& x,
                          const std::map<std::string, Value>& expected) const {
    testing::PagedTensors tensors(edge);
    Model model = model_;
    for (auto& [name, tensor] : model.graph.initializers) tensor = tensors.copy(tensor);
    options.buffers = [edge](Index bytes) { return testing::paged(bytes, edge); };
    Session session(std::move(model), options);
    std::map<std::string, Tensor> outputs;
    for (const auto& [name, value] : expected)
      outputs.emplace(name, tensors.make(value.tensor().type(), value.tensor().shape()));
    session.bind({{"x", tensors.copy(x)}}, outputs).run();
    compare(expected, {outputs.begin(), outputs.end()});
  }

  // Requires the reference's bits, or outputs that the judge accepts. Outputs with equal bits are
  // judged only once, because many plans give the same outputs.
  void hold(const std::map<std::string, Value>& feeds, const std::map<std::string, Value>& expected,
            const std::map<std::string, Value>& made, bool winograd) {
    if (!winograd && !overflows) return compare(expected, made);
    const std::string bits = bits_of(feeds) + bits_of(made);
    if (bits == bits_of(feeds) + bits_of(expected) || !accepted_.insert(bits).second) return;
    ASSERT_EQ(why_refused(model(), feeds, made), "");
  }
  // Ignores NaN payloads and the sign of zeros, which compare() treats as equal.
  static std::string bits_of(const std::map<std::string, Value>& values) {
    std::string bits;
    for (const auto& [name, value] : values) {
      const Tensor& tensor = value.tensor();
      bits.append(name).append(text(tensor.shape()));
      if (tensor.type() != Type::float32) {
        bits += raw(tensor);
        continue;
      }
      for (Index k = 0; k < tensor.size(); ++k) {
        const float x = tensor.data<float>()[k];
        const float kept = std::isnan(x) ? std::numeric_limits<float>::quiet_NaN() : x + 0.0F;
        bits.append(reinterpret_cast<const char*>(&kept), sizeof kept);
      }
    }
    return bits;
  }

  static std::string raw(const Tensor& tensor) {
    const std::span<const std::byte> bytes = tensor.bytes();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  static void compare(const std::map<std::string, Value>& expected,
                      const std::map<std::string, Value>& made) {
    for (const auto& [name, value] : expected)
      compare(name, value.tensor(), made.at(name).tensor());
  }
  static void compare(const std::string& name, const Tensor& expected, const Tensor& made) {
    ASSERT_EQ(made.shape(), expected.shape()) << name;
    ASSERT_EQ(made.type(), expected.type()) << name;
    if (expected.type() != Type::float32) {
      ASSERT_EQ(raw(made), raw(expected)) << name;
      return;
    }
    for (Index k = 0; k < expected.size(); ++k) {
      const float wanted = expected.data<float>()[k], got = made.data<float>()[k];
      ASSERT_TRUE(got == wanted || (std::isnan(got) && std::isnan(wanted)))
          << name << ", element " << k << " of " << text(expected.shape()) << ": " << got << " for "
          << wanted;
    }
  }

  Model model_;
  Shape input_;
  unsigned seed_ = 0;
  std::set<std::string> accepted_;  // feeds and outputs, by their bits
};

inline const std::map<std::string, std::vector<Index>> padded{{"pads", {1, 1, 1, 1}}};

}  // namespace touchstone::optimized
