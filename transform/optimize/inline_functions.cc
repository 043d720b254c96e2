// Inlines calls of the model's functions. The body's internal names are made unique. A call stays
// if the function was written for operator versions other than those that the model imports. It
// also stays if its full expansion would exceed the limit on nodes: functions that call the next
// one twice double at every level.
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>

#include "core/budget_watch.h"
#include "model/scopes.h"
#include "transform/optimize/body_writer.h"
#include "transform/optimize/graph_passes.h"

namespace touchstone::transform {

namespace {

// True if the model's imports resolve each node of the body to the same operator version.
bool means_the_same(MutableGraph& graph, const Function& function) {
  bool same = true;
  for_each_node(function.nodes, [&](const Node& node) {
    if (node.signature == nullptr) return;
    const Index opset = graph.opset(node.domain);
    same = same && opset > 0 && find_signature(node.domain, node.op, opset) == node.signature;
  });
  return same;
}

// True if every output of the body is computed by one of its nodes, and no value is listed twice.
bool has_plain_outputs(const Function& function) {
  std::map<std::string, Index> made;
  for (const Node& node : function.nodes) {
    for (const std::string& output : node.outputs) made.emplace(output, 0);
  }
  for (const std::string& output : function.outputs) {
    const auto found = made.find(output);
    if (found == made.end() || ++found->second > 1) return false;
  }
  return true;
}

// Inlines one call. Returns the place of the body's first node, or of the node after the call if
// the body is empty. Returns nullopt, and the call stays, if attributes copied from the call exceed
// `left`.
std::optional<MutableGraph::Place> put_in_place(MutableGraph& graph, MutableGraph::Place place,
                                                Index& left) {
  const Node call = *place;
  const Function& function = *call.function;
  BodyNames names;
  for (std::size_t k = 0; k < function.inputs.size(); ++k)
    names.own[function.inputs[k]] = k < call.inputs.size() ? call.inputs[k] : "";
  for (std::size_t k = 0; k < function.outputs.size() && k < call.outputs.size(); ++k) {
    if (!call.outputs[k].empty()) names.own[function.outputs[k]] = call.outputs[k];
  }
  BodyWriter writer(graph, call);
  std::vector<Node> body;
  for (const Node& node : function.nodes) {
    body.push_back(writer.written(node, names));
    left -= weight_of(body.back()) - weight_of(node);
    if (left < 0) return std::nullopt;
  }
  std::optional<MutableGraph::Place> first;
  for (Node& node : body) {
    while (!node.inputs.empty() && node.inputs.back().empty()) node.inputs.pop_back();
    const MutableGraph::Place made = graph.insert(place, std::move(node));
    if (!first) first = made;
  }
  const MutableGraph::Place behind = graph.erase(place);
  return first.value_or(behind);
}

// Caches facts about called functions.
class Callees {
 public:
  explicit Callees(MutableGraph& graph) : graph_(graph) {}

  bool may_open(const Function& function) {
    const auto [at, fresh] = may_open_.emplace(&function, false);
    if (fresh) at->second = has_plain_outputs(function) && means_the_same(graph_, function);
    return at->second;
  }

  // Returns the nodes of the full expansion of a call, nested calls included; saturates at the
  // maximum. The checker bounds the recursion depth.
  Index size(const Function& function) {
    if (const auto found = sizes_.find(&function); found != sizes_.end()) return found->second;
    Index sum = (std::ssize(function.inputs) + std::ssize(function.outputs) +
                 std::ssize(function.default_attributes)) /
                entries_of_a_node;
    for (const Node& node : function.nodes) {
      const Index own = node.function ? size(*node.function) : weight_of(node);
      if (__builtin_add_overflow(sum, own, &sum)) sum = std::numeric_limits<Index>::max();
    }
    return sizes_[&function] = sum;
  }

 private:
  MutableGraph& graph_;
  std::unordered_map<const Function*, bool> may_open_;
  std::unordered_map<const Function*, Index> sizes_;
};

}  // namespace

Index inline_functions(MutableGraph& graph) {
  Callees callees(graph);
  Index left = graph.options().limits.nodes - static_cast<Index>(graph.nodes().size());
  Index changes = 0;
  MutableGraph::Place behind =
      graph.nodes().end();  // the node after the call that is being inlined
  bool inside = false;
  BudgetWatch watch;
  for (auto place = graph.nodes().begin(); place != graph.nodes().end(); watch.step()) {
    inside = inside && place != behind;
    const auto here = place++;
    if (!here->function || !callees.may_open(*here->function)) continue;
    if (!inside) {
      const Index size = callees.size(*here->function);
      if (size > left) continue;
      left -= size;
      behind = place;
      inside = true;
    }
    if (const auto first = put_in_place(graph, here, left)) {
      place = *first;
      ++changes;
    }
  }
  return changes;
}

}  // namespace touchstone::transform
