// Table of the kernel families, and the tensors of their steps.
#include "optimized/lowering/lowering.h"

#include <cstring>

#include "core/budget.h"
#include "core/error.h"
#include "core/placement.h"
#include "model/scopes.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/moves.h"
#include "optimized/plan/store.h"
#include "reference/interpreter.h"

namespace touchstone::optimized {
namespace {

Value& held(const RunState& state, Index value) {
  return state.values[static_cast<std::size_t>(value)];
}

}  // namespace

const KernelFamily* family_of(const AnalyzedGraph& graph, Index node) {
  for (const KernelFamily* family : kernel_families()) {
    if (family->takes(graph, node)) return family;
  }
  return nullptr;
}

Type element_type(const AnalyzedGraph& graph, Index value) {
  if (value == no_value) return Type::undefined;
  const AnalyzedValue& fact = graph.value(value);
  if (fact.type)
    return fact.type->kind == ValueType::Kind::tensor ? fact.type->element : Type::undefined;
  if (fact.producer == no_value) return Type::undefined;
  const AnalyzedNode& made = graph.node(fact.producer);
  const Signature* const signature = made.node->signature;
  constexpr int numbered = 6;  // the first version whose attribute is the type's number
  if (signature == nullptr || !signature->domain.empty() || signature->op != "Cast" ||
      signature->since < numbered)
    return Type::undefined;
  const Index to = made.attributes().integer("to");
  return to > 0 && to <= static_cast<Index>(Type::float6e3m2) ? static_cast<Type>(to)
                                                              : Type::undefined;
}

TensorStep::TensorStep(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
    : graph_(graph), node_(node), buffers_(std::move(buffers)) {}

void TensorStep::bind(const Memory& memory) {
  placed_.assign(buffers_.size(), std::nullopt);
  for (std::size_t k = 0; k < buffers_.size(); ++k) {
    if (buffers_[k] == no_value) continue;
    const AnalyzedValue& output = graph_.value(fact().outputs[k]);
    placed_[k] = tensor_at(memory.at(buffers_[k]), output.type->element, *output.shape);
  }
}

bool TensorStep::has_input(std::size_t k) const {
  return k < fact().inputs.size() && fact().inputs[k] != no_value;
}

bool TensorStep::has_output(std::size_t k) const {
  return k < fact().outputs.size() && fact().outputs[k] != no_value;
}

const Tensor& TensorStep::input(const RunState& state, std::size_t k) const {
  return held(state, fact().inputs[k]).tensor();
}

Tensor& TensorStep::output(RunState& state, std::size_t k, Type type, const Shape& shape) {
  if (placed_[k]) {
    if (shape != placed_[k]->shape()) throw ShapeDiffers{graph_.value(fact().outputs[k]).name};
    if (type != placed_[k]->type()) BUG("an output of another type than its node makes");
    charge_work(placed_[k]->size());
    return *placed_[k];
  }
  Value& value = held(state, fact().outputs[k]);
  // Throws the reference's error if the shape exceeds a limit. Steps write every element, here as
  // in the plan's memory.
  value = Tensor(type, shape, type == Type::string ? Storage::values : Storage::unfilled);
  Tensor& made = std::get<Tensor>(value.is);
  charge_work(made.size());
  return made;
}

void TensorStep::put(RunState& state, std::size_t k, Value made) {
  if (!placed_[k]) return store(state, graph_, fact().outputs[k], std::move(made));
  const Tensor& from = made.tensor();
  const std::span<std::byte> to = output(state, k, from.type(), from.shape()).bytes();
  if (!to.empty()) std::memcpy(to.data(), from.bytes().data(), to.size());
}

void TensorStep::run_on_reference(RunState& state) {
  if (fallback.empty()) fallback = "kernel '" + kernel + "' does not compute this call";
  RunOptions options;
  options.limits = state.limits;
  const auto look_up = [&](const std::string& name) { return held(state, graph_.find(name)); };
  std::vector<Value> made = run_node(node(), look_up, options);
  for (std::size_t k = 0; k < made.size(); ++k) {
    if (has_output(k)) put(state, k, std::move(made[k]));
  }
}

}  // namespace touchstone::optimized
