// Declares wrong shapes for a model's values, which must not change any outcome.
#include <algorithm>
#include <array>

#include "core/error.h"
#include "model/model.h"
#include "reference/shapes/shapes.h"
#include "tests/mutation/subject.h"

namespace touchstone::mutation {
namespace {

std::vector<Dim> lie(const std::optional<std::vector<InferredSize>>& inferred, Random& random) {
  std::vector<Dim> shape;
  if (inferred && !random.one_in(4)) {  // nearly right
    for (const InferredSize& size : *inferred) shape.push_back({size.number.value_or(1), ""});
  } else {
    for (Index k = random.below(5); k > 0; --k) shape.push_back({1 + random.below(9), ""});
  }
  if (shape.empty()) return {{1 + random.below(64), ""}};
  Dim& dim = random.pick(shape);
  const Index size = std::min(dim.size.value_or(1), Index{1} << 40);
  const std::array sizes{Index{0}, Index{1},    size + 1,       16 * (size % 1000), Index{64},
                         size / 2, Index{4096}, Index{1} << 20, Index{1000},        Index{1} << 26};
  dim.size = random.pick(sizes);
  if (random.one_in(6)) shape.insert(shape.begin(), {1, ""});
  if (random.one_in(6)) shape.pop_back();
  return shape;
}

}  // namespace

Model without_shapes(Model model) {
  model.graph.values.clear();
  for (ValueInfo& output : model.graph.outputs) output.shape.reset();
  return model;
}

// Declares wrong shapes only. Types are the inferred ones, since a wrong type violates a rule.
Model with_lies(Model model, Random& random) {
  model = without_shapes(std::move(model));
  std::vector<InferredValue> known;
  Model valid = model;
  try {
    require_valid(valid, limits());
    known = infer_shapes(valid, limits()).values;
  } catch (const Error&) {  // invalid with any declaration
  }
  const auto inferred = [&](const std::string& name) {
    return std::find_if(known.begin(), known.end(), [&](const InferredValue& value) {
      return value.path.empty() && value.name == name;
    });
  };
  const auto is_tensor = [](const std::optional<ValueType>& type) {
    return type && type->kind == ValueType::Kind::tensor;
  };
  for (ValueInfo& output : model.graph.outputs) {
    const auto value = inferred(output.name);
    if (!is_tensor(output.type)) continue;
    if (value == known.end()) {
      output.shape = lie(std::nullopt, random);
    } else if (is_tensor(value->type)) {
      output.shape = lie(value->shape, random);
    }
  }
  const auto is_output = [&](const std::string& name) {
    return std::any_of(model.graph.outputs.begin(), model.graph.outputs.end(),
                       [&](const ValueInfo& output) { return output.name == name; });
  };
  for (const InferredValue& value : known) {
    if (!value.path.empty() || value.node == nullptr || !is_tensor(value.type)) continue;
    if (value.name.empty() || is_output(value.name)) continue;
    model.graph.values.push_back({value.name, value.type, lie(value.shape, random)});
  }
  return model;
}

Model twin_of(const Subject& subject, Random& random) {
  return random.one_in(3) ? subject.model : with_lies(subject.model, random);
}

Random twin_random(Index number) {
  return Random(static_cast<std::uint64_t>(number) + (1ULL << 62));
}

}  // namespace touchstone::mutation
