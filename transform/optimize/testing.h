// Test utilities for passes: small models, and counts of the changes that passes make.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/testing.h"
#include "reference/interpreter.h"
#include "transform/optimize/passes.h"

namespace touchstone::transform {

inline Model sound(Model model) {
  require_valid(model, {});
  return model;
}

inline Optimized optimized(const Model& model, std::vector<std::string> with) {
  PassOptions options;
  options.level = Level::none;
  options.with = std::move(with);
  return optimize(model, options);
}

inline Index changes(const Optimized& made, std::string_view pass) {
  Index sum = 0;
  for (const PassCount& count : made.counts) sum += count.pass == pass ? count.changes : 0;
  return sum;
}

inline std::vector<float> run_on(const Model& model, std::vector<float> values) {
  const std::map<std::string, Value> outputs =
      run(model, {{"X", testing::tensor(std::move(values))}});
  const Tensor& y = outputs.at("Y").tensor();
  return {y.data<float>(), y.data<float>() + y.size()};
}

inline Tensor indices(std::vector<Index> values) {
  Tensor list(Type::int64, {static_cast<Index>(values.size())});
  std::copy(values.begin(), values.end(), list.data<Index>());
  return list;
}

inline Tensor scalar(float value) {
  Tensor made(Type::float32, {});
  made.data<float>()[0] = value;
  return made;
}

inline Model with_constants(std::vector<Node> nodes, std::map<std::string, Tensor> constants) {
  Model made = testing::chain(std::move(nodes));
  made.graph.initializers = std::move(constants);
  return sound(std::move(made));
}

// Y = X + (a + b)
inline Model sum_of_constants() {
  return with_constants(
      {testing::node("Add", {"a", "b"}, {"c"}), testing::node("Add", {"X", "c"}, {"Y"})},
      {{"a", testing::tensor({1, 2})}, {"b", testing::tensor({3, 4})}});
}

}  // namespace touchstone::transform
