// Family of distances between all rows of two tables: the Scan by which converters state them. Its
// body subtracts one row from a table and sums squares or magnitudes along the features.
#include <cstring>
#include <set>

#include "core/budget.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/moves.h"
#include "optimized/lowering/packed_lists.h"

namespace touchstone::optimized {
namespace {

bool is(const Attribute& attribute, Index number) {
  const Index* const held = std::get_if<Index>(&attribute.is);
  return held != nullptr && *held == number;
}

// Follows the values of a body without subgraphs back to the nodes that make them.
class Body {
 public:
  explicit Body(const Graph& graph) : graph_(graph) {
    for (const Node& node : graph.nodes) {
      for (const std::string& name : node.outputs) makers_.emplace(name, &node);
    }
  }
  // Name of a value, before any Identity.
  std::string source(std::string name) const {
    for (const Node* node = maker(name); node != nullptr && node->op == "Identity" &&
                                         node->domain.empty() && node->inputs.size() == 1;
         node = maker(name))
      name = node->inputs[0];
    return name;
  }
  // The node of this operator that makes a value, else null.
  const Node* made_by(std::string_view op, const std::string& name) const {
    const Node* const node = maker(source(name));
    return node != nullptr && node->op == op && node->domain.empty() ? node : nullptr;
  }
  // True if a reduction is along the second of two dimensions, which it drops.
  bool along_features(const Node& node) const {
    const auto kept = node.attributes.find("keepdims");
    if (kept == node.attributes.end() || !is(kept->second, 0)) return false;
    std::vector<Index> axes;
    if (const auto given = node.attributes.find("axes"); given != node.attributes.end()) {
      if (const auto* list = std::get_if<std::vector<Index>>(&given->second.is)) axes = *list;
    } else if (node.inputs.size() == 2) {
      const auto given_input = graph_.initializers.find(source(node.inputs[1]));
      if (given_input == graph_.initializers.end() || given_input->second.size() != 1) return false;
      axes.push_back(static_cast<Index>(number_at(given_input->second, 0)));
    }
    return axes == std::vector<Index>{1} || axes == std::vector<Index>{-1};
  }

 private:
  const Node* maker(const std::string& name) const {
    const auto found = makers_.find(name);
    return found == makers_.end() ? nullptr : found->second;
  }

  const Graph& graph_;
  std::map<std::string, const Node*> makers_;
};

// Returns nothing for another Scan.
std::optional<Term> term_of(const Node& scan) {
  for (const auto& [name, attribute] : scan.attributes) {
    if (name == "num_scan_inputs" && is(attribute, 1)) continue;
    if (name != "body") return std::nullopt;  // other axes and directions
  }
  if (!scan.attributes.contains("num_scan_inputs")) return std::nullopt;
  const auto* const held =
      std::get_if<std::shared_ptr<const Graph>>(&scan.attributes.at("body").is);
  if (held == nullptr || *held == nullptr) return std::nullopt;
  const Graph& graph = **held;
  if (graph.inputs.size() != 2 || graph.outputs.size() != 2) return std::nullopt;
  const std::string &table = graph.inputs[0].name, &row = graph.inputs[1].name;
  const Body body(graph);
  if (body.source(graph.outputs[0].name) != table) return std::nullopt;
  const std::string made = graph.outputs[1].name;
  std::string apart;
  Term term = Term::square;
  if (const Node* squares = body.made_by("ReduceSumSquare", made)) {
    if (!body.along_features(*squares)) return std::nullopt;
    apart = squares->inputs[0];
  } else if (const Node* sum = body.made_by("ReduceSum", made)) {
    const Node* const magnitudes = body.made_by("Abs", sum->inputs[0]);
    if (magnitudes == nullptr || !body.along_features(*sum)) return std::nullopt;
    apart = magnitudes->inputs[0];
    term = Term::magnitude;
  }
  const Node* const difference = apart.empty() ? nullptr : body.made_by("Sub", apart);
  if (difference == nullptr) return std::nullopt;
  const std::set<std::string> read{body.source(difference->inputs[0]),
                                   body.source(difference->inputs[1])};
  if (read != std::set<std::string>{table, row}) return std::nullopt;
  return term;
}

class DistancesStep : public TensorStep {
 public:
  DistancesStep(const AnalyzedGraph& graph, Index node, const std::vector<Index>& buffers)
      : TensorStep(graph, node, buffers),
        term_(*term_of(*graph.node(node).node)),
        constant_(graph.value(graph.node(node).inputs[1]).constant != nullptr),
        otherwise_(bodies_family.step(graph, node, buffers)) {
    kernel = "distances";
    kernel_class = KernelClass::matmul;
  }
  void bind(const Memory& memory) override {
    TensorStep::bind(memory);
    otherwise_->bind(memory);
  }

  void run(RunState& state) override {
    const bool fits = input(state, 0).type() == Type::float32 ? measured(state, singles_)
                                                              : measured(state, doubles_);
    if (fits) return;
    otherwise_->run(state);
    kernel = otherwise_->kernel;
    kernel_class = otherwise_->kernel_class;
  }

 private:
  // Row e of the result holds the distances of all rows from row e of the second table.
  template <class T>
  bool measured(RunState& state, PackedLists<T>& lists) {
    const Tensor &x = input(state, 0), &others = input(state, 1);
    if (x.shape().size() != 2 || others.shape().size() != 2) return false;
    const Index rows = x.shape()[0], features = x.shape()[1], many = others.shape()[0];
    if (x.size() == 0 || others.size() == 0 || others.shape()[1] != features ||
        many > state.limits.loop_iterations)
      return false;
    if (!constant_ || lists.lists() != many || lists.length() != features)
      lists = PackedLists<T>(others.data<T>(), many, features);
    if (has_output(0)) {
      Tensor& same = output(state, 0, x.type(), x.shape());
      std::memcpy(same.bytes().data(), x.bytes().data(), x.bytes().size());
    }
    if (!has_output(1)) return true;
    T* const to = output(state, 1, x.type(), Shape{many, rows}).template data<T>();
    const T* const from = x.data<T>();
    const Index parts = std::min(lists.blocks(), parts_for(state.pool.size()));
    const double cost =
        nanoseconds_a_multiply_add * 4 * static_cast<double>(x.size()) * static_cast<double>(many);
    state.each(parts, cost, [&](Index part, Index) {
      for (Index block = lists.blocks() * part / parts; block < lists.blocks() * (part + 1) / parts;
           ++block) {
        constexpr Index some = 64;  // rows, between charges
        for (Index n = 0; n < rows; n += some)
          lists.sums(term_, from + n * features, std::min(some, rows - n), block, to + n, 1, rows);
      }
    });
    return true;
  }

  const Term term_;
  const bool constant_;
  const std::unique_ptr<Step> otherwise_;
  PackedLists<float> singles_;
  PackedLists<double> doubles_;
};

bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature& signature = *fact.node->signature;
  constexpr Index without_batch = 9;
  if (!signature.domain.empty() || signature.op != "Scan" || signature.since < without_batch)
    return false;
  const Type type = element_of(graph, node, 0);
  return fact.inputs.size() == 2 && fact.outputs.size() == 2 &&
         (type == Type::float32 || type == Type::float64) && element_of(graph, node, 1) == type &&
         term_of(*fact.node).has_value() && bodies_family.takes(graph, node);
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  return std::make_unique<DistancesStep>(graph, node, buffers);
}

}  // namespace

const KernelFamily distances_family{"distances", KernelClass::matmul, takes, step};

}  // namespace touchstone::optimized
