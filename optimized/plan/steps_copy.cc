// Data movement steps: strided copies, contiguous runs, or single elements.
#include <algorithm>
#include <cstring>

#include "optimized/kernels/strided_copy.h"
#include "optimized/plan/copies.h"
#include "optimized/plan/steps.h"
#include "reference/lists.h"

namespace touchstone::optimized {
namespace {

class CopyStep : public Step {
 public:
  CopyStep(std::vector<Index> inputs, std::vector<CopiedOutput> outputs)
      : inputs_(std::move(inputs)), outputs_(std::move(outputs)) {
    kernel = "strided copy " + std::string(name(chosen_isa()));
    kernel_class = KernelClass::copy;
  }
  void bind(const Memory& memory) override {
    from_.clear();
    to_.clear();
    for (const Index input : inputs_) from_.push_back(memory.at(input));
    for (const CopiedOutput& output : outputs_) to_.push_back(memory.at(output.buffer));
  }
  void run(RunState& state) override {
    for (std::size_t k = 0; k < outputs_.size(); ++k) {
      const CopiedOutput& output = outputs_[k];
      if (!output.parts.empty()) {
        if (output.filled) fill(output, to_[k], state);
        for (const CopiedPart& part : output.parts) move(part, to_[k] + part.to, state);
      } else if (!output.elements.empty()) {
        gather(output, to_[k], state);
      } else {
        copy(output, to_[k], state);
      }
    }
  }

 private:
  static constexpr Index piece = 4096;  // elements that a thread takes at once

  const float* source(Index k) const { return from_[static_cast<std::size_t>(k)]; }

  static double cost_of(Index elements) {
    return static_cast<double>(elements) * nanoseconds_an_element;
  }

  void fill(const CopiedOutput& output, float* to, RunState& state) const {
    const float with = output.fill == zero_fill ? 0 : *source(output.fill);
    const Index all = count(output.shape), some = std::max(piece, ceil_div(all, state.pool.size()));
    state.each(ceil_div(all, some), cost_of(all), [&](Index part, Index) {
      std::fill(to + part * some, to + std::min((part + 1) * some, all), with);
    });
  }

  void move(const CopiedPart& whole, float* to, RunState& state) const {
    const StridedCopy& all = whole.move;
    const double cost = cost_of(all.elements());
    std::size_t cut = StridedCopy::rank - 1;  // the outermost dimension with an extent over 1
    while (cut > 0 && all.extents[cut] == 1) --cut;
    const Index parts = std::min(all.extents[cut], state.parts(cost));
    const Index step = ceil_div(all.extents[cut], parts);
    state.each(ceil_div(all.extents[cut], step), cost, [&](Index part, Index) {
      StridedCopy some = all;
      some.extents[cut] = std::min(step, all.extents[cut] - part * step);
      some.whole = all.elements();
      run_strided_copy(chosen_isa(), some, sizeof(float),
                       source(whole.source) + whole.from + part * step * all.source_strides[cut],
                       to + part * step * all.target_strides[cut]);
    });
  }

  void copy(const CopiedOutput& output, float* to, RunState& state) const {
    const auto runs = static_cast<Index>(output.runs.size());
    const Index step = std::max<Index>(ceil_div(runs, state.pool.size() * 4), 1);
    state.each(ceil_div(runs, step), cost_of(count(output.shape)), [&](Index part, Index) {
      for (Index k = part * step; k < std::min((part + 1) * step, runs); ++k) {
        const CopiedRun& run = output.runs[static_cast<std::size_t>(k)];
        const std::size_t bytes = static_cast<std::size_t>(run.count) * sizeof(float);
        if (run.source == zero_fill) {
          std::memset(to + run.to, 0, bytes);
        } else {
          std::memcpy(to + run.to, from_[static_cast<std::size_t>(run.source)] + run.from, bytes);
        }
      }
    });
  }

  void gather(const CopiedOutput& output, float* to, RunState& state) const {
    const auto all = static_cast<Index>(output.elements.size());
    const float* const from = source(output.source);
    state.each(ceil_div(all, piece), cost_of(all), [&](Index part, Index) {
      for (Index k = part * piece; k < std::min((part + 1) * piece, all); ++k) {
        const std::int32_t element = output.elements[static_cast<std::size_t>(k)];
        to[k] = element < 0 ? 0 : from[element];
      }
    });
  }

  const std::vector<Index> inputs_;
  const std::vector<CopiedOutput> outputs_;
  std::vector<const float*> from_;
  std::vector<float*> to_;
};

}  // namespace

void build_copy(Builder& builder, const Group& group) {
  const AnalyzedGraph& graph = builder.graph();
  const AnalyzedNode& fact = graph.node(group.main());
  std::vector<CopiedOutput> outputs;
  if (std::optional<CopiedOutput> told = inferred_copy(graph, fact)) {
    outputs.push_back(*std::move(told));
  } else {
    outputs = probed_copy(graph, fact);
  }
  if (outputs.empty()) return builder.on_reference(group.main());
  std::vector<Index> buffers;
  for (std::size_t k = 0; k < fact.inputs.size(); ++k) {
    if (fact.inputs[k] != no_value && is_copied(fact, k))
      buffers.push_back(builder.plain(fact.inputs[k]));
  }
  for (std::size_t k = 0; k < outputs.size(); ++k)
    outputs[k].buffer = builder.make_plain(fact.outputs[k]);
  builder.add(std::make_unique<CopyStep>(std::move(buffers), std::move(outputs)), group.nodes);
}

}  // namespace touchstone::optimized
