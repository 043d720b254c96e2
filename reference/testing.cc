// Toy kernels: Relu, Add, Neg, Identity, If, Loop, and a Concat that adds its axis. They suffice to
// test order, scopes and lifetimes.
#include "reference/testing.h"

#include <algorithm>
#include <new>
#include <vector>

#include "reference/registry.h"

namespace touchstone {
namespace {

using testing::mischief;

template <class Map>
void unary(Call& call, const Map& map) {
  if (mischief().run_out_of_memory) throw std::bad_alloc();
  if (mischief().ask_for_too_much) std::vector<float>().reserve(static_cast<std::size_t>(-1));
  if (mischief().leave_output_out) return;
  const Tensor& x = call.inputs[0].tensor();
  Tensor y(x.type(), x.shape());
  std::transform(x.data<float>(), x.data<float>() + x.size(), y.data<float>(), map);
  Shape shape = y.shape();
  while (shape.size() < mischief().rank) shape.push_back(1);
  call.outputs[0] = y.reshaped(shape);
}

void relu(Call& call) {
  unary(call, [](float x) { return x > 0 ? x : 0; });
}
void negate(Call& call) {
  unary(call, [](float x) { return -x; });
}
void identity(Call& call) { call.outputs[0] = call.inputs[0]; }

void add(Call& call) {
  const Tensor& a = call.inputs[0].tensor();
  const Tensor& b = call.inputs[1].tensor();
  if (!(a.shape() == b.shape())) {
    throw Error(ErrorKind::invalid_input, "shapes differ")
        .with_rule("Add-14/C1", "shapes are equal", "here:1");
  }
  Tensor c(a.type(), a.shape());
  for (Index i = 0; i < a.size(); ++i) c.data<float>()[i] = a.data<float>()[i] + b.data<float>()[i];
  call.outputs[0] = c;
}

// Adds the attribute to every element, so that a test can observe a reference's value.
void concat(Call& call) {
  const auto axis = std::get<Index>(call.node->attributes.at("axis").is);
  unary(call, [axis](float x) { return x + static_cast<float>(axis); });
}

const Graph& graph_of(const Call& call, const char* name) {
  return *std::get<std::shared_ptr<const Graph>>(call.node->attributes.at(name).is);
}

void choose(Call& call) {
  const bool condition = *call.inputs[0].tensor().data<bool>();
  call.outputs = call.run_graph(graph_of(call, condition ? "then_branch" : "else_branch"), {});
}

void repeat(Call& call) {
  const Index trips = *call.inputs[0].tensor().data<Index>();
  std::vector<Value> carried(call.inputs.begin() + 2, call.inputs.end());
  for (Index trip = 0; trip < trips; ++trip) {
    std::vector<Value> inputs{testing::scalar(trip), testing::scalar(true)};
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    const std::vector<Value> outputs = call.run_graph(graph_of(call, "body"), inputs);
    carried.assign(outputs.begin() + 1,
                   outputs.begin() + 1 + static_cast<std::ptrdiff_t>(carried.size()));
  }
  std::copy(carried.begin(), carried.end(), call.outputs.begin());
}

}  // namespace

const ReferenceEntry* find_entry(const Signature& signature) {
  static std::map<std::string_view, ReferenceEntry> entries{
      {"Relu", {nullptr, relu, nullptr, ""}},    {"Neg", {nullptr, negate, nullptr, ""}},
      {"Add", {nullptr, add, nullptr, ""}},      {"Identity", {nullptr, identity, nullptr, ""}},
      {"If", {nullptr, choose, nullptr, ""}},    {"Loop", {nullptr, repeat, nullptr, ""}},
      {"Concat", {nullptr, concat, nullptr, ""}}};
  const auto found = entries.find(signature.op);
  return found == entries.end() ? nullptr : &found->second;
}

}  // namespace touchstone

namespace touchstone::testing {

Mischief& mischief() {
  static Mischief held;
  return held;
}

Value scalar(bool value) {
  Tensor made(Type::boolean, Shape{});
  *made.data<bool>() = value;
  return made;
}

Value scalar(Index value) {
  Tensor made(Type::int64, Shape{});
  *made.data<Index>() = value;
  return made;
}

std::vector<float> held(const Value& value) {
  const Tensor& tensor = value.tensor();
  return {tensor.data<float>(), tensor.data<float>() + tensor.size()};
}

std::map<std::string, Value> run_floats(Model model, std::vector<float> values,
                                        const RunOptions& options) {
  resolve(model);
  return run(model, {{"X", tensor(std::move(values))}}, options);
}

}  // namespace touchstone::testing
