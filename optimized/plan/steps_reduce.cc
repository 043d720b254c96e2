// Reduction steps on plain tensors: the kernel calls of a node are recorded when the plan is made.
#include <algorithm>

#include "core/placement.h"
#include "optimized/plan/form_class.h"
#include "optimized/plan/steps.h"
#include "optimized/problems/collapse.h"
#include "optimized/registry/registry.h"
#include "reference/calls.h"
#include "reference/lists.h"

namespace touchstone::optimized {
namespace {

// Address at which the input's reads are recorded, before its memory is placed. No constant has it.
constexpr Index recorded_address = Index{1} << 40;
constexpr std::size_t most_problems = 1024;

// Returns the dimensions other than 1: a kernel keeps reduced ones, which the node's output may
// drop.
Shape without_ones(const Shape& shape) {
  Shape kept;
  for (const Index extent : shape) {
    if (extent != 1) kept.push_back(extent);
  }
  return kept;
}

// Records how the kernels read the node's input; nullopt if they cannot be called from a plan.
std::optional<RecordedCall> recorded(const AnalyzedGraph& graph, const AnalyzedNode& fact) {
  const FastEntry& entry = *find_fast(*fact.node->signature);
  if (entry.form != Form::reduce || fact.outputs.size() != 1 || fact.inputs[0] == no_value ||
      !graph.value(fact.outputs[0]).floats())
    return std::nullopt;
  const AnalyzedValue& x = graph.value(fact.inputs[0]);
  if (!x.floats() || x.constant || count(*x.shape) == 0) return std::nullopt;
  std::vector<Value> inputs{
      tensor_at(reinterpret_cast<void*>(recorded_address), Type::float32, *x.shape)};
  for (std::size_t k = 1; k < fact.inputs.size(); ++k) {
    const Index input = fact.inputs[k];
    if (input != no_value && !graph.value(input).constant) return std::nullopt;
    inputs.push_back(input == no_value ? Value() : Value(*graph.value(input).constant));
  }
  Call call = call_of(*fact.node, std::move(inputs));
  RecordedCall record;
  if (!record_fast(entry, call, record) ||
      without_ones(record.made) != without_ones(*graph.value(fact.outputs[0]).shape))
    return std::nullopt;
  // Reduced dimensions that do not merge into one would be copied in each run.
  std::vector<IndexVector> inside{IndexVector(record.reduced.size(), 0)};
  for (const Operand& operand : record.inputs)
    inside.push_back(tail(operand.strides, record.made.size()));
  if (count(record.made) == 0 || count(record.reduced) == 0 ||
      collapse(record.reduced, inside).extents.size() > 1)
    return std::nullopt;
  return record;
}

// Returns the kernel calls, with the outer dimension of each divided into at most `parts`.
std::vector<ReduceProblem> problems_of(const RecordedCall& record, std::vector<Operand> inputs,
                                       float* output, Index parts) {
  std::vector<ReduceProblem> all;
  reduce_problems(record.made, record.reduced, std::move(inputs), output,
                  [&](const ReduceProblem& whole) {
                    const Index outer = whole.extents[2], own = std::min(outer, parts);
                    for (Index part = 0; part < own; ++part) {
                      const Index first = outer * part / own;
                      ReduceProblem& some = all.emplace_back(whole);
                      some.extents[2] = outer * (part + 1) / own - first;
                      for (Placed<3>& input : some.inputs) input.data += first * input.strides[2];
                      some.output += first * some.output_strides[2];
                    }
                  });
  return all;
}

class ReduceStep : public Step {
 public:
  ReduceStep(Builder& builder, Index node, RecordedCall record)
      : entry_(*find_fast(*builder.graph().node(node).node->signature)),
        record_(std::move(record)),
        size_(count(builder.shape(builder.graph().node(node).inputs[0]))),
        cost_(static_cast<double>(size_) * nanoseconds_an_element),
        parts_(cost_ > RunState::worth_waking ? parts_for(builder.threads()) : 1) {
    const AnalyzedNode& fact = builder.graph().node(node);
    in_ = builder.plain(fact.inputs[0]);
    out_ = builder.make_plain(fact.outputs[0]);
    kernel = std::string(entry_.kernel) + " " + std::string(name(chosen_isa()));
    kernel_class = class_of(entry_.form);
  }
  void bind(const Memory& memory) override {
    std::vector<Operand> inputs = record_.inputs;
    for (Operand& operand : inputs) {
      const Index at = reinterpret_cast<Index>(operand.data) - recorded_address;
      if (at >= 0 && at < packed_bytes(Type::float32, size_))
        operand.data = memory.at(in_) + at / static_cast<Index>(sizeof(float));
    }
    problems_ = problems_of(record_, std::move(inputs), memory.at(out_), parts_);
  }
  void run(RunState& state) override {
    const KernelPair& kernels = (*entry_.kernels)[static_cast<std::size_t>(chosen_isa())];
    state.each(static_cast<Index>(problems_.size()), cost_, [&](Index part, Index) {
      const ReduceProblem& problem = problems_[static_cast<std::size_t>(part)];
      call_kernel(problem.by_rows ? kernels.rows : kernels.usual, problem, record_.values);
    });
  }

 private:
  const FastEntry& entry_;
  const RecordedCall record_;
  const Index size_;  // elements of the input
  const double cost_;
  const Index parts_;
  Index in_, out_;
  std::vector<ReduceProblem> problems_;
};

}  // namespace

bool build_reduction(Builder& builder, Index node) {
  std::optional<RecordedCall> record = recorded(builder.graph(), builder.graph().node(node));
  if (!record) return false;
  if (problems_of(*record, record->inputs, reinterpret_cast<float*>(recorded_address), 1).size() >
      most_problems)
    return false;
  auto step = std::make_unique<ReduceStep>(builder, node, *std::move(record));
  builder.add(std::move(step), {node});
  return true;
}

}  // namespace touchstone::optimized
