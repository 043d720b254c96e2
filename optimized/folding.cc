// Runs nodes of constants as models of one node.
#include "optimized/folding.h"

#include <algorithm>

#include "optimized/plan/plan.h"

namespace touchstone::optimized {

namespace {

// Smaller inputs become initializers: kernels may want them constant.
constexpr Index small_inputs = 4096;

Model model_of(const Node& node, const std::vector<Value>& inputs, const Model& of,
               std::map<std::string, Value>& feeds) {
  Model model;
  model.ir_version = std::max<Index>(of.ir_version, 4);  // constants are no inputs
  model.opsets = of.opsets;
  model.graph.nodes.push_back(node);
  model.graph.nodes.back().index = 0;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const std::string& name = node.inputs[k];
    if (name.empty() || feeds.contains(name)) continue;
    const Tensor& tensor = inputs[k].tensor();
    if (tensor.size() <= small_inputs) {
      model.graph.initializers.emplace(name, tensor);
      continue;
    }
    ValueInfo input;
    input.name = name;
    input.type = tensor_type(tensor.type());
    model.graph.inputs.push_back(std::move(input));
    feeds.emplace(name, inputs[k]);
  }
  for (const std::string& name : node.outputs) {
    if (name.empty()) continue;
    ValueInfo output;
    output.name = name;
    model.graph.outputs.push_back(std::move(output));
  }
  return model;
}

}  // namespace

std::vector<Value> evaluate_fast(const Node& node, const std::vector<Value>& inputs,
                                 const Model& of, const Limits& limits, bool fuse,
                                 ThreadPool& pool) {
  const LimitsScope scope(limits);  // of the session; the caller's are of the results alone
  std::map<std::string, Value> feeds;
  const Model model = model_of(node, inputs, of, feeds);
  std::map<std::string, Shape> shapes;
  for (const auto& [name, value] : feeds) shapes.emplace(name, value.tensor().shape());
  Plan plan(model, shapes, pool.size(),
            {.fuse = fuse, .winograd = false, .folds = false, .limits = limits});
  std::map<std::string, Value> made = plan.run(feeds, pool);
  std::vector<Value> outputs;
  for (const std::string& name : node.outputs)
    outputs.push_back(name.empty() ? Value() : std::move(made.at(name)));
  return outputs;
}

transform::PassOptions::Evaluator fast_evaluator(const transform::PassOptions& passes, bool fuse,
                                                 ThreadPool& pool) {
  return [limits = passes.limits, fuse, &pool](const Node& node, const std::vector<Value>& inputs,
                                               const Model& of) {
    return evaluate_fast(node, inputs, of, limits, fuse, pool);
  };
}

}  // namespace touchstone::optimized
