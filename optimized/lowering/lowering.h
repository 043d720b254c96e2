// Kernel families that run one node by themselves. Each row accepts nodes by the facts of their
// values and makes their step; rows may name operators.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "optimized/plan/analyzed_graph.h"
#include "optimized/plan/kernel_class.h"
#include "optimized/plan/step.h"

namespace touchstone::optimized {

struct KernelFamily {
  std::string_view name;  // "recurrent", ..: opens the name of its kernels
  KernelClass kernel_class;
  // The node has a signature and violates no rule. Shapes may be unknown before the run.
  bool (*takes)(const AnalyzedGraph& graph, Index node);
  // `buffers`: plan memory of each output, a tensor of known shape; no_value for an output that
  // becomes a tensor of its own, or is omitted.
  std::unique_ptr<Step> (*step)(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers);
};

// Maker of one kind of step, as KernelFamily::step; tables of operators hold it.
using MakeStep = std::unique_ptr<Step> (*)(const AnalyzedGraph&, Index, std::vector<Index>);
template <class S>
std::unique_ptr<Step> make_step(const AnalyzedGraph& graph, Index node,
                                std::vector<Index> buffers) {
  return std::make_unique<S>(graph, node, std::move(buffers));
}

// Returns the family that takes the node, else null.
const KernelFamily* family_of(const AnalyzedGraph& graph, Index node);

// Step that reads and writes whole tensors: the base of most families.
class TensorStep : public Step {
 public:
  TensorStep(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers);
  void bind(const Memory& memory) override;

 protected:
  const AnalyzedNode& fact() const { return graph_.node(node_); }
  const Node& node() const { return *fact().node; }
  bool has_input(std::size_t k) const;
  bool has_output(std::size_t k) const;
  bool is_placed(std::size_t k) const { return buffers_[k] != no_value; }
  // A tensor that the node reads; has_input(k) must hold.
  const Tensor& input(const RunState& state, std::size_t k) const;
  // Returns an output for this run, in the plan's memory or of its own. Its elements are not
  // initialized. Throws ShapeDiffers if the plan expected another shape.
  Tensor& output(RunState& state, std::size_t k, Type type, const Shape& shape);
  // Stores output k, in the plan's memory or as a value of its own. Throws ShapeDiffers as above,
  // and what store() throws.
  void put(RunState& state, std::size_t k, Value made);
  // Runs the node on its reference kernel, for a call that the family does not compute.
  void run_on_reference(RunState& state);

 private:
  const AnalyzedGraph& graph_;
  const Index node_;
  const std::vector<Index> buffers_;
  std::vector<std::optional<Tensor>> placed_;  // outputs in the plan's memory
};

}  // namespace touchstone::optimized
