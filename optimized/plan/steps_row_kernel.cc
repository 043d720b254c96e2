// Steps that run one node on a row kernel (optimized/kernels/rows). Inputs are tensors; outputs of
// known shape are in the plan's memory.
#include <cstring>

#include "core/placement.h"
#include "model/scopes.h"
#include "optimized/kernels/rows/row_kernel.h"
#include "optimized/plan/builder.h"
#include "optimized/plan/store.h"
#include "reference/calls.h"
#include "reference/interpreter.h"

namespace touchstone::optimized {
namespace {

class RowKernelStep : public Step {
 public:
  RowKernelStep(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : graph_(graph),
        node_(node),
        buffers_(std::move(buffers)),
        entry_(*find_row_kernel(*graph.node(node).node->signature)) {
    kernel = "row kernel " + std::string(name(chosen_isa()));
    kernel_class = KernelClass::row_kernel;
    generic = true;
  }
  Index scratch() const override { return entry_.scratch * RowKernel::piece; }
  void bind(const Memory& memory) override {
    placed_.clear();
    for (const Index buffer : buffers_)
      placed_.push_back(buffer == no_value ? nullptr : memory.at(buffer));
  }
  void run(RunState& state) override {
    const AnalyzedNode& fact = graph_.node(node_);
    std::vector<Value> inputs;
    for (const Index input : fact.inputs)
      inputs.push_back(input == no_value ? Value() : state.values[static_cast<std::size_t>(input)]);
    Call call = call_of(*fact.node, std::move(inputs));
    for (std::size_t k = 0; k < placed_.size(); ++k) {
      if (placed_[k] == nullptr) continue;
      const AnalyzedValue& output = graph_.value(fact.outputs[k]);
      call.outputs[k] = tensor_at(placed_[k], Type::float32, *output.shape);
    }
    RowKernel row_kernel(state.pool, state.scratch, arrays_);
    if (!entry_.run(call, row_kernel)) {
      // An attribute requests another type than float32: statistics in bfloat16.
      fallback = "an attribute wants another type than float";
      RunOptions options;
      options.limits = state.limits;
      const auto look_up = [&](const std::string& name) {
        return state.values[static_cast<std::size_t>(graph_.find(name))];
      };
      call.outputs = run_node(*fact.node, look_up, options);
    }
    for (std::size_t k = 0; k < placed_.size(); ++k) {
      if (fact.outputs[k] == no_value) continue;
      if (placed_[k] == nullptr) {
        store(state, graph_, fact.outputs[k], std::move(call.outputs[k]));
        continue;
      }
      const AnalyzedValue& output = graph_.value(fact.outputs[k]);
      const Tensor& made = call.outputs[k].tensor();
      if (made.shape() != *output.shape) throw ShapeDiffers{output.name};
      if (made.data<float>() != placed_[k])
        std::memcpy(placed_[k], made.bytes().data(), made.bytes().size());
    }
  }

 private:
  const AnalyzedGraph& graph_;
  const Index node_;
  const std::vector<Index> buffers_;
  const RowKernelEntry& entry_;
  std::vector<float*> placed_;
  RowKernelArrays arrays_;
};

bool bit(std::uint64_t mask, std::size_t k) { return (mask >> std::min<std::size_t>(k, 63)) & 1; }

}  // namespace

bool takes_row_kernel(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const RowKernelEntry* entry =
      fact.node->signature ? find_row_kernel(*fact.node->signature) : nullptr;
  if (entry == nullptr) return false;
  const auto fits = [&](const std::vector<Index>& values, std::uint64_t floats) {
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (values[k] == no_value) continue;
      const AnalyzedValue& value = graph.value(values[k]);
      if (!value.type || value.type->kind != ValueType::Kind::tensor) return false;
      if (bit(floats, k) && !value.is(Type::float32)) return false;
    }
    return true;
  };
  return fits(fact.inputs, entry->float_inputs) && fits(fact.outputs, entry->float_outputs);
}

std::unique_ptr<Step> row_kernel_step(const AnalyzedGraph& graph, Index node,
                                      std::vector<Index> buffers) {
  return std::make_unique<RowKernelStep>(graph, node, std::move(buffers));
}

}  // namespace touchstone::optimized
