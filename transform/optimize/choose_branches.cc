// Replaces a node that runs one of two graphs by the nodes of the graph that it runs, if the
// condition is known: a constant, or what all feeds' shapes determine.
#include <algorithm>
#include <map>
#include <optional>

#include "core/budget_watch.h"
#include "model/scopes.h"
#include "transform/optimize/body_writer.h"
#include "transform/optimize/graph_passes.h"

namespace touchstone::transform {
namespace {

const Graph* graph_of(const Node& node, const char* name) {
  const auto found = node.attributes.find(name);
  if (found == node.attributes.end()) return nullptr;
  const auto* held = std::get_if<std::shared_ptr<const Graph>>(&found->second.is);
  return held ? held->get() : nullptr;
}

bool has_branches(const Node& node) {
  return node.signature != nullptr && node.signature->form == "control" &&
         node.inputs.size() == 1 && graph_of(node, "then_branch") && graph_of(node, "else_branch");
}

// Returns the value of the node's condition; records the assumption if it follows from shapes.
std::optional<bool> condition(MutableGraph& graph, const Node& node) {
  const std::string& name = node.inputs[0];
  if (const Tensor* const constant = graph.constant(name)) {
    if (constant->type() != Type::boolean || constant->size() != 1) return std::nullopt;
    return *constant->data<bool>();
  }
  const KnownValue* const known = graph.known(name);
  if (known == nullptr || !known->condition) return std::nullopt;
  return known->condition;
}

// Origins of a branch's outputs.
class Outputs {
 public:
  explicit Outputs(const Graph& branch) {
    for (const Node& node : branch.nodes) {
      for (const std::string& output : node.outputs) ++free_[output];
    }
  }
  // True for the first use of a value that a node of the branch makes: it takes the output's name.
  bool take(const std::string& name) {
    const auto found = free_.find(name);
    return found != free_.end() && found->second-- > 0;
  }

 private:
  std::map<std::string, Index> free_;
};

// True if the branch's nodes can stand in the node's place. An output that no node of the branch
// makes needs a name that may change.
bool may_replace(const MutableGraph& graph, const Node& node, const Graph& branch) {
  if (!branch.inputs.empty() || !branch.sparse_initializers.empty()) return false;
  if (branch.outputs.size() < node.outputs.size()) return false;
  Outputs outputs(branch);
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    const std::string& name = node.outputs[k];
    if (name.empty() || outputs.take(branch.outputs[k].name)) continue;
    if (graph.is_output(name) || graph.is_captured(name)) return false;
  }
  return true;
}

// Returns the place of the first node that came in.
MutableGraph::Place replace(MutableGraph& graph, MutableGraph::Place place, const Graph& branch) {
  const Node chosen = *place;
  BodyNames names;
  names.captures = true;
  BodyWriter writer(graph, chosen);
  std::vector<std::pair<std::string, std::string>> same;  // an output, and a value of the branch
  Outputs outputs(branch);
  for (std::size_t k = 0; k < chosen.outputs.size(); ++k) {
    const std::string &output = chosen.outputs[k], &made = branch.outputs[k].name;
    if (output.empty()) continue;
    if (outputs.take(made)) {
      names.own[made] = output;
    } else {
      same.emplace_back(output, made);
    }
  }
  for (const auto& [name, tensor] : branch.initializers)
    graph.add_constant(writer.named(name, names), tensor);
  std::optional<MutableGraph::Place> first;
  for (const Node& node : branch.nodes) {
    const MutableGraph::Place made = graph.insert(place, writer.written(node, names));
    if (!first) first = made;
  }
  for (const auto& [output, made] : same) graph.replace_value(output, names.at(made));
  const MutableGraph::Place behind = graph.erase(place);
  return first.value_or(behind);
}

}  // namespace

Index choose_branches(MutableGraph& graph) {
  Index changes = 0;
  BudgetWatch watch;
  for (auto place = graph.nodes().begin(); place != graph.nodes().end(); watch.step()) {
    const std::optional<bool> chosen =
        has_branches(*place) ? condition(graph, *place) : std::nullopt;
    const Graph* const branch =
        chosen ? graph_of(*place, *chosen ? "then_branch" : "else_branch") : nullptr;
    if (branch == nullptr || !may_replace(graph, *place, *branch)) {
      ++place;
      continue;
    }
    if (const std::string& name = place->inputs[0]; graph.constant(name) == nullptr)
      graph.assume({{name, std::nullopt, *chosen ? 1 : 0, "", 0, true}});
    place = replace(graph, place, *branch);
    ++changes;
  }
  return changes;
}

}  // namespace touchstone::transform
