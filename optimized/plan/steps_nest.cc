// Nodes on nests (optimized/nests): one node, its inputs as tensors, its outputs in the plan's
// memory where their shape is known before the run.
#include <cstring>

#include "core/error.h"
#include "model/scopes.h"
#include "optimized/nests/nest.h"
#include "optimized/plan/builder.h"
#include "reference/calls.h"
#include "reference/interpreter.h"

namespace touchstone {
namespace {

class OnNest : public Step {
 public:
  OnNest(const Outline& outline, Index node, std::vector<Index> buffers)
      : outline_(outline), node_(node), buffers_(std::move(buffers)),
        entry_(*find_nest(*outline.node(node).node->signature)) {
    kernel = "nest " + std::string(name(chosen_isa()));
  }
  Index scratch() const override { return entry_.rooms * Nest::piece; }
  void bind(const Memory& memory) override {
    placed_.clear();
    for (const Index buffer : buffers_)
      placed_.push_back(buffer == nobody ? nullptr : memory.at(buffer));
  }
  void run(RunState& state) override {
    const NodeFact& fact = outline_.node(node_);
    std::vector<Value> inputs;
    for (const Index input : fact.inputs)
      inputs.push_back(input == nobody ? Value() : state.values[static_cast<std::size_t>(input)]);
    Call call = call_of(*fact.node, std::move(inputs));
    Nest nest(state.pool, state.scratch, arrays_, placed_);
    if (!entry_.run(call, nest)) return on_reference(state, fact);
    for (std::size_t k = 0; k < fact.outputs.size(); ++k) {
      if (fact.outputs[k] != nobody && placed_[k] == nullptr)
        state.values[static_cast<std::size_t>(fact.outputs[k])] = std::move(call.outputs[k]);
    }
  }

 private:
  // What an attribute asks for may be no float after all: statistics in bfloat16.
  void on_reference(RunState& state, const NodeFact& fact) {
    kernel = "reference";
    RunOptions options;
    options.limits = state.limits;
    std::vector<Value> made = run_node(
        *fact.node,
        [&](const std::string& name) {
          return state.values[static_cast<std::size_t>(outline_.find(name))];
        },
        options);
    for (std::size_t k = 0; k < made.size(); ++k) {
      if (fact.outputs[k] == nobody) continue;
      if (placed_[k] == nullptr) {
        state.values[static_cast<std::size_t>(fact.outputs[k])] = std::move(made[k]);
      } else {
        const Tensor& tensor = made[k].tensor();
        if (tensor.shape() != *outline_.value(fact.outputs[k]).shape)
          BUG("a kernel made another shape than was inferred");
        std::memcpy(placed_[k], tensor.bytes().data(), tensor.bytes().size());
      }
    }
  }

  const Outline& outline_;
  const Index node_;
  const std::vector<Index> buffers_;
  const NestEntry& entry_;
  std::vector<float*> placed_;
  NestArrays arrays_;
};

bool bit(std::uint64_t mask, std::size_t k) { return (mask >> std::min<std::size_t>(k, 63)) & 1; }

}  // namespace

bool takes_nest(const Outline& outline, Index node) {
  const NodeFact& fact = outline.node(node);
  const NestEntry* entry = fact.node->signature ? find_nest(*fact.node->signature) : nullptr;
  if (entry == nullptr) return false;
  const auto fits = [&](const std::vector<Index>& values, std::uint64_t floats) {
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (values[k] == nobody) continue;
      const ValueFact& value = outline.value(values[k]);
      if (!value.type || value.type->kind != ValueType::Kind::tensor) return false;
      if (bit(floats, k) && !value.is(Type::float32)) return false;
    }
    return true;
  };
  return fits(fact.inputs, entry->float_inputs) && fits(fact.outputs, entry->float_outputs);
}

std::unique_ptr<Step> nest_step(const Outline& outline, Index node, std::vector<Index> buffers) {
  return std::make_unique<OnNest>(outline, node, std::move(buffers));
}

}  // namespace touchstone
