// Test utilities for operators of quantized numbers: one node, compared with the reference bit for
// bit.
#pragma once

#include <gmock/gmock.h>

#include <cstring>
#include <random>

#include "core/error.h"
#include "core/numbers/convert.h"
#include "model/model.h"
#include "optimized/session.h"
#include "reference/interpreter.h"

namespace touchstone::optimized {

inline Tensor drawn(Type type, const Shape& shape, unsigned seed) {
  std::mt19937 random(seed);
  Tensor made(type, shape);
  for (Index k = 0; k < made.size(); ++k) {
    if (type == Type::float32) {
      made.data<float>()[k] = static_cast<float>(random() % 4001) / 64.0F - 30;
    } else if (type == Type::int32) {
      made.data<std::int32_t>()[k] = static_cast<std::int32_t>(random() % 20001) - 10000;
    } else {
      const auto whole = static_cast<int>(random() % 256);
      set_number(made, k, type == Type::int8 || type == Type::int16 ? whole - 128 : whole);
    }
  }
  return made;
}

inline Tensor scales(const Shape& shape) {
  Tensor made(Type::float32, shape);
  for (Index k = 0; k < made.size(); ++k)
    made.data<float>()[k] = 0.01F * static_cast<float>(k % 7 + 1);
  return made;
}

struct NodeInput {
  Tensor tensor;  // of type undefined: omitted
  bool constant = false;
};

// One node. Every input is a feed or a constant.
class OneNode {
 public:
  OneNode(const std::string& op, std::vector<NodeInput> inputs, Index outputs = 1) {
    model_.ir_version = 10;
    model_.opsets[""] = 23;
    model_.graph.name = "one";
    Node node;
    node.op = op;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      const Tensor& tensor = inputs[k].tensor;
      if (tensor.type() == Type::undefined) {
        node.inputs.push_back("");
        continue;
      }
      const std::string name = "i" + std::to_string(k);
      node.inputs.push_back(name);
      if (inputs[k].constant) {
        model_.graph.initializers.emplace(name, tensor);
        continue;
      }
      ValueInfo info;
      info.name = name;
      info.type = tensor_type(tensor.type());
      model_.graph.inputs.push_back(info);
      feeds_.emplace(name, tensor);
    }
    for (Index k = 0; k < outputs; ++k) {
      node.outputs.push_back("y" + std::to_string(k));
      ValueInfo info;
      info.name = node.outputs.back();
      model_.graph.outputs.push_back(info);
    }
    model_.graph.nodes.push_back(std::move(node));
  }
  OneNode& list(const std::string& name, std::vector<Index> items) {
    model_.graph.nodes[0].attributes[name].is = std::move(items);
    return *this;
  }
  OneNode& number(const std::string& name, Index item) {
    model_.graph.nodes[0].attributes[name].is = item;
    return *this;
  }
  OneNode& word(const std::string& name, const std::string& item) {
    model_.graph.nodes[0].attributes[name].is = item;
    return *this;
  }

  // Requires the reference's bits on one and two threads. Returns the kernel.
  std::string check() {
    resolve(model_);
    require_valid(model_, Limits::trusted());
    const std::map<std::string, Value> expected = touchstone::run(model_, feeds_);
    std::string kernel;
    for (const Index threads : {1, 2}) {
      Session session(model_, {.threads = threads});
      for (int again = 0; again < 2; ++again) {
        const std::map<std::string, Value> made = session.run(feeds_);
        for (const auto& [name, value] : expected) {
          const Tensor &wanted = value.tensor(), &got = made.at(name).tensor();
          EXPECT_EQ(got.shape(), wanted.shape());
          EXPECT_EQ(got.type(), wanted.type());
          if (got.bytes().size() != wanted.bytes().size()) continue;
          EXPECT_TRUE(
              wanted.bytes().empty() ||
              std::memcmp(got.bytes().data(), wanted.bytes().data(), wanted.bytes().size()) == 0)
              << name << " of " << text(wanted.shape());
        }
      }
      for (const Placement& row : session.placement()) kernel += row.kernel + "; ";
    }
    return kernel;
  }
  void is_fast() {
    const std::string kernel = check();
    EXPECT_THAT(kernel, ::testing::Not(::testing::HasSubstr("reference")));
  }
  // False if a run passes this limit on elementary operations.
  bool runs_within(Index work) {
    resolve(model_);
    Limits limits = Limits::trusted();
    limits.work = work;
    Session session(model_, {.threads = 2, .limits = limits});
    try {
      session.run(feeds_);
      return true;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind, ErrorKind::limit) << error.what();
      return false;
    }
  }

 private:
  Model model_;
  std::map<std::string, Value> feeds_;
};

inline constexpr Type bytes[] = {Type::uint8, Type::int8};

}  // namespace touchstone::optimized
