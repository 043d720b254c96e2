// Utilities for tests of sessions on values of any type and on subgraphs: models built node by
// node, whose values and errors must be the reference's.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "optimized/testing.h"

namespace touchstone::optimized::flow {

inline const std::vector<Type> integer_types{Type::int8,  Type::uint8,  Type::int16, Type::uint16,
                                             Type::int32, Type::uint32, Type::int64, Type::uint64};

using Feeds = std::map<std::string, Value>;

inline Tensor numbers(Type type, const Shape& shape, const std::vector<Index>& items) {
  Tensor made(type, shape);
  for (Index k = 0; k < made.size(); ++k) {
    const Index item = items[static_cast<std::size_t>(k) % items.size()];
    switch (facts(type).bits) {
      case 8:
        made.data<std::int8_t>()[k] =
            static_cast<std::int8_t>(type == Type::boolean ? item & 1 : item);
        break;
      case 16:
        made.data<std::int16_t>()[k] = static_cast<std::int16_t>(item);
        break;
      case 32:
        if (type == Type::float32)
          made.data<float>()[k] = static_cast<float>(item);
        else
          made.data<std::int32_t>()[k] = static_cast<std::int32_t>(item);
        break;
      default:
        if (type == Type::float64)
          made.data<double>()[k] = static_cast<double>(item);
        else
          made.data<std::int64_t>()[k] = item;
    }
  }
  return made;
}
inline Tensor list(const std::vector<Index>& items) {
  return numbers(Type::int64, {static_cast<Index>(items.size())}, items);
}

// A graph that is built node by node.
struct Build {
  Graph graph;
  Build& in(const std::string& name, const std::optional<ValueType>& type = {}) {
    ValueInfo& made = graph.inputs.emplace_back();
    made.name = name;
    made.type = type;
    return *this;
  }
  Build& out(const std::string& name, Type type = Type::undefined) {
    ValueInfo& made = graph.outputs.emplace_back();
    made.name = name;
    if (type != Type::undefined) made.type = tensor_type(type);
    return *this;
  }
  Build& hold(const std::string& name, Tensor tensor) {
    graph.initializers.emplace(name, std::move(tensor));
    return *this;
  }
  Build& node(const std::string& op, std::vector<std::string> inputs,
              std::vector<std::string> outputs, std::map<std::string, Attribute> attributes = {}) {
    Node& made = graph.nodes.emplace_back();
    made.op = op;
    made.inputs = std::move(inputs);
    made.outputs = std::move(outputs);
    made.index = static_cast<Index>(graph.nodes.size()) - 1;
    made.attributes = std::move(attributes);
    return *this;
  }
  std::shared_ptr<const Graph> shared() const { return std::make_shared<const Graph>(graph); }
};

inline Model model_of(Build build, const Feeds& feeds, Index opset = 21) {
  Model model;
  model.ir_version = 10;
  model.opsets[""] = opset;
  model.graph = std::move(build.graph);
  model.graph.name = "flow";
  for (const auto& [name, value] : feeds) {
    ValueInfo& made = model.graph.inputs.emplace_back();
    made.name = name;
    made.type = value.type();
  }
  resolve(model);
  return model;
}

inline std::string bits(const Value& value) {
  if (const auto* sequence = std::get_if<Sequence>(&value.is)) {
    std::string all = "sequence";
    for (const Value& item : sequence->items) all += bits(item);
    return all;
  }
  const Tensor& tensor = value.tensor();
  const std::span<const std::byte> bytes = tensor.bytes();
  return std::string(name(tensor.type())) + text(tensor.shape()) +
         std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// Returns the outputs as bits, or the error with its place.
template <class F>
std::string outcome(F work) {
  try {
    std::string all;
    for (const auto& [name, value] : work()) all += name + "=" + bits(value) + ";";
    return all;
  } catch (const Error& error) {
    return error.message + " at " + error.place;
  }
}

// Requires the reference's outcome for all feeds, in one session, and returns its kernels.
inline std::string same(const Model& model, const std::vector<Feeds>& all,
                        const Limits& limits = {}) {
  std::string kernels;
  for (const Index threads : {1, 2}) {
    Session session(
        model, {.threads = threads, .passes = {.level = transform::Level::none}, .limits = limits});
    for (int again = 0; again < 2; ++again) {
      for (const Feeds& feeds : all) {
        RunOptions options;
        options.limits = limits;
        EXPECT_EQ(outcome([&] { return session.run(feeds); }),
                  outcome([&] { return run(model, feeds, options); }));
      }
    }
    kernels.clear();
    for (const Placement& row : session.placement()) kernels += row.kernel + "; ";
  }
  return kernels;
}
inline std::string same(const Build& build, const Feeds& feeds, Index opset = 21) {
  return same(model_of(build, feeds, opset), {feeds});
}

inline Attribute integer(Index value) { return {value, {}, {}}; }
inline Attribute integers(std::vector<Index> values) { return {std::move(values), {}, {}}; }
inline Attribute body(const Build& build) { return {build.shared(), {}, {}}; }

}  // namespace touchstone::optimized::flow
