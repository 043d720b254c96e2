// Steps on plain tensors: reference kernels, generated kernels called as a whole, and copies of
// separate tensors into the plan's memory.
#include <algorithm>
#include <cstring>

#include "core/budget.h"
#include "core/error.h"
#include "core/placement.h"
#include "model/model.h"
#include "model/scopes.h"
#include "optimized/plan/builder.h"
#include "optimized/plan/caller_memory.h"
#include "optimized/plan/form_class.h"
#include "optimized/plan/store.h"
#include "optimized/registry/registry.h"
#include "reference/calls.h"
#include "reference/interpreter.h"

namespace touchstone::optimized {
namespace {

Value& held(RunState& state, Index value) { return state.values[static_cast<std::size_t>(value)]; }

class Load : public Step {
 public:
  Load(const AnalyzedValue& fact, Index value, Index buffer)
      : fact_(fact), value_(value), buffer_(buffer) {
    kernel = "copy";
    kernel_class = KernelClass::copy;
  }
  void bind(const Memory& memory) override { to_ = memory.at(buffer_); }
  bool read_in_place(Index value, CallerMemory& caller) override {
    if (value != value_) return false;
    caller_ = &caller;
    kernel = "view";
    kernel_class = KernelClass::view;
    return true;
  }
  void run(RunState& state) override {
    const Tensor& from = held(state, value_).tensor();
    if (from.shape() != *fact_.shape) throw ShapeDiffers{fact_.name};
    if (caller_ != nullptr) return caller_->move(value_, const_cast<float*>(from.data<float>()));
    const Index parts = state.pool.size(), size = from.size(), some = (size + parts - 1) / parts;
    const auto floats = static_cast<double>(size);
    state.each(parts, floats * nanoseconds_an_element, [&](Index part, Index) {
      const Index first = std::min(part * some, size);
      std::copy_n(from.data<float>() + first, std::min(some, size - first), to_ + first);
    });
  }
  Index bytes_moved() const override {
    return caller_ != nullptr ? 0 : 2 * packed_bytes(Type::float32, count(*fact_.shape));
  }

 private:
  const AnalyzedValue& fact_;
  const Index value_, buffer_;
  float* to_ = nullptr;
  CallerMemory* caller_ = nullptr;  // null: the value is copied
};

class PassOn : public Step {
 public:
  PassOn(const AnalyzedGraph& graph, Index made, Index of) : graph_(graph), made_(made), of_(of) {
    kernel = "view";
    kernel_class = KernelClass::view;
  }
  void run(RunState& state) override {
    const Tensor& from = held(state, of_).tensor();
    const AnalyzedValue& fact = graph_.value(of_);
    if (from.shape() != *fact.shape) throw ShapeDiffers{fact.name};
    held(state, made_) = from.reshaped(*graph_.value(made_).shape);
  }

 private:
  const AnalyzedGraph& graph_;
  const Index made_, of_;
};

class OnReference : public Step {
 public:
  OnReference(const AnalyzedGraph& graph, Index node) : graph_(graph), node_(node) {
    // The same elements in another shape: the tensor is passed on and no element is read.
    const Signature* signature = graph.node(node).node->signature;
    const bool handed_on = signature && operator_kind(*signature) == OperatorKind::reshape;
    kernel = handed_on ? "view" : "reference";
    kernel_class = handed_on ? KernelClass::view : KernelClass::reference;
    if (!handed_on || graph.node(node).broken) return;
    const Shape* const from = shape_of(graph.node(node).inputs[0]);
    const Shape* const to = shape_of(graph.node(node).outputs[0]);
    if (from != nullptr && to != nullptr && count(*from) == count(*to)) to_ = to;
  }
  // Sequences are moved: a copy takes as long as they are.
  void read_last(const std::vector<Index>& values) override {
    const std::vector<Index>& inputs = graph_.node(node_).inputs;
    for (const Index value : values) {
      const std::optional<ValueType>& type = graph_.value(value).type;
      const bool is_tensor = !type || type->kind == ValueType::Kind::tensor;
      if (!is_tensor && std::count(inputs.begin(), inputs.end(), value) == 1 &&
          subgraphs_of(*graph_.node(node_).node).empty())
        moved_.push_back(value);
    }
  }
  void run(RunState& state) override {
    const AnalyzedNode& fact = graph_.node(node_);
    if (hand_on(state, fact)) return;
    RunOptions options;
    options.limits = state.limits;
    const auto look_up = [&](const std::string& name) -> Value {
      const Index value = graph_.find(name);
      if (std::find(moved_.begin(), moved_.end(), value) == moved_.end()) return held(state, value);
      return std::move(held(state, value));
    };
    std::vector<Value> made = run_node(*fact.node, look_up, options);
    for (std::size_t k = 0; k < made.size(); ++k) {
      if (fact.outputs[k] != no_value) store(state, graph_, fact.outputs[k], std::move(made[k]));
    }
  }

 private:
  const Shape* shape_of(Index value) const {
    if (value == no_value || !graph_.value(value).shape) return nullptr;
    return &*graph_.value(value).shape;
  }
  // Returns false if the tensor or its shape is not as the plan expects.
  bool hand_on(RunState& state, const AnalyzedNode& fact) const {
    if (to_ == nullptr) return false;
    const Value& from = held(state, fact.inputs[0]);
    if (!from.is_tensor() || from.tensor().shape() != *shape_of(fact.inputs[0])) return false;
    charge_work(1);
    held(state, fact.outputs[0]) = from.tensor().reshaped(*to_);
    return true;
  }

  const AnalyzedGraph& graph_;
  const Index node_;
  std::vector<Index> moved_;   // inputs that no later step reads
  const Shape* to_ = nullptr;  // of the output, the same elements in another shape; null: unknown
};

class OnKernel : public Step {
 public:
  OnKernel(const AnalyzedGraph& graph, Index node, Index buffer)
      : graph_(graph), node_(node), buffer_(buffer) {
    const Node& n = *graph.node(node).node;
    const FastEntry& entry = *find_fast(*n.signature);
    kernel = std::string(entry.kernel) + " " + std::string(name(chosen_isa()));
    kernel_class = class_of(entry.form);
  }
  void bind(const Memory& memory) override {
    if (buffer_ != no_value) to_ = memory.at(buffer_);
  }
  void run(RunState& state) override {
    const AnalyzedNode& fact = graph_.node(node_);
    std::vector<Value> inputs;
    for (const Index input : fact.inputs)
      inputs.push_back(input == no_value ? Value() : held(state, input));
    Call call = call_of(*fact.node, std::move(inputs));
    const AnalyzedValue& output = graph_.value(fact.outputs[0]);
    if (to_ != nullptr) call.outputs[0] = tensor_at(to_, Type::float32, *output.shape);
    if (!run_fast(*find_fast(*fact.node->signature), call))
      BUG("a generated kernel does not take what the plan gave it");
    if (to_ == nullptr) {
      held(state, fact.outputs[0]) = std::move(call.outputs[0]);
      return;
    }
    const Tensor& made = call.outputs[0].tensor();
    if (made.shape() != *output.shape) throw ShapeDiffers{output.name};
    if (made.data<float>() != to_) BUG("a generated kernel wrote where it was not told to");
  }

 private:
  const AnalyzedGraph& graph_;
  const Index node_, buffer_;
  float* to_ = nullptr;  // null: the output is a tensor of its own
};

}  // namespace

std::unique_ptr<Step> load(const AnalyzedValue& fact, Index value, Index buffer) {
  return std::make_unique<Load>(fact, value, buffer);
}
std::unique_ptr<Step> view_step(const AnalyzedGraph& graph, Index made, Index of) {
  return std::make_unique<PassOn>(graph, made, of);
}
std::unique_ptr<Step> reference_step(const AnalyzedGraph& graph, Index node) {
  return std::make_unique<OnReference>(graph, node);
}
std::unique_ptr<Step> kernel_step(const AnalyzedGraph& graph, Index node, Index buffer) {
  return std::make_unique<OnKernel>(graph, node, buffer);
}

}  // namespace touchstone::optimized
