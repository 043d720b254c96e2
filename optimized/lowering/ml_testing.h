// Utilities for tests of classical models: models of one node of ai.onnx.ml, whose outputs must
// have the reference's bits.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/error.h"
#include "optimized/testing.h"

namespace touchstone::optimized::ml {

using Attributes = std::map<std::string, Attribute>;
using Feeds = std::map<std::string, Value>;

template <class T>
Attribute attribute(T held) {
  Attribute made;
  made.is = std::move(held);
  return made;
}

inline Tensor strings(const std::vector<std::string>& texts) {
  Tensor made(Type::string, Shape{static_cast<Index>(texts.size())});
  std::copy(texts.begin(), texts.end(), made.data<std::string>());
  return made;
}

// Returns a tensor of these numbers, in turn.
inline Tensor numbers_of(Type type, const Shape& shape, const std::vector<long double>& items) {
  Tensor made(type, shape);
  for (Index k = 0; k < made.size(); ++k)
    set_number(made, k, items[static_cast<std::size_t>(k) % items.size()]);
  return made;
}

// Returns a model of one node that reads the feeds in the order of their names.
inline Model one_node(const std::string& op, const Attributes& attributes, const Feeds& feeds,
                      const std::vector<Type>& outputs, Index version = 3) {
  Model made;
  made.ir_version = 8;
  made.opsets["ai.onnx.ml"] = version;
  made.opsets[""] = 15;
  made.graph.name = "rows";
  Node node;
  node.domain = "ai.onnx.ml";
  node.op = op;
  node.attributes = attributes;
  for (const auto& [name, value] : feeds) {
    ValueInfo& input = made.graph.inputs.emplace_back();
    input.name = name;
    input.type = value.type();
    node.inputs.push_back(name);
  }
  for (const Type type : outputs) {
    ValueInfo& output = made.graph.outputs.emplace_back();
    output.name = "y" + std::to_string(node.outputs.size());
    output.type = tensor_type(type);
    node.outputs.push_back(output.name);
  }
  made.graph.nodes.push_back(node);
  resolve(made);
  return made;
}

// Runs both runtimes, and compares them by bits; any NaN equals any other. Returns the kernels.
inline std::string check(const Model& model, const Feeds& feeds) {
  const Feeds expected = run(model, feeds);
  std::string kernels;
  for (const Index threads : {1, 3}) {
    Session session(model, SessionOptions{.threads = threads});
    for (int again = 0; again < 2; ++again) {
      const Feeds made = session.run(feeds);
      for (const auto& [name, value] : expected) {
        const Tensor &wanted = value.tensor(), &got = made.at(name).tensor();
        EXPECT_EQ(got.shape(), wanted.shape());
        EXPECT_EQ(got.type(), wanted.type());
        for (Index k = 0; k < wanted.size(); ++k) {
          if (wanted.type() == Type::string)
            EXPECT_EQ(got.data<std::string>()[k], wanted.data<std::string>()[k]);
          else if (facts(wanted.type()).is_float && std::isnan(number_at(wanted, k)))
            EXPECT_TRUE(std::isnan(number_at(got, k))) << name << ", element " << k;
          else
            EXPECT_EQ(code_at(got, k), code_at(wanted, k)) << name << ", element " << k;
        }
      }
    }
    kernels.clear();
    for (const Placement& row : session.placement()) kernels += row.kernel + "; ";
  }
  return kernels;
}

// Requires the error of the reference.
inline void check_error(const Model& model, const Feeds& feeds) {
  const auto message = [](auto work) -> std::string {
    try {
      work();
    } catch (const Error& error) {
      return error.message;
    }
    return "no error";
  };
  const std::string expected = message([&] { run(model, feeds); });
  EXPECT_NE(expected, "no error");
  EXPECT_EQ(message([&] { Session(model).run(feeds); }), expected);
}

}  // namespace touchstone::optimized::ml
