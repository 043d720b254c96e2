// Traversals with explicit stacks: a hostile model may nest to any depth.
#include "model/scopes.h"

#include <algorithm>
#include <unordered_set>

namespace touchstone {
namespace {

struct Open {  // a graph in traversal
  const Graph* graph;
  std::size_t next = 0;
  std::unordered_set<std::string> defined;
};

Open enter(const Graph& graph) {
  Open open{&graph};
  for (const ValueInfo& input : graph.inputs) open.defined.insert(input.name);
  for (const auto& [name, tensor] : graph.initializers) open.defined.insert(name);
  for (const auto& [name, tensor] : graph.sparse_initializers) open.defined.insert(name);
  for (const Node& node : graph.nodes)
    open.defined.insert(node.outputs.begin(), node.outputs.end());
  return open;
}

struct Entries {
  template <class T>
  Index operator()(const std::vector<T>& list) const {
    return static_cast<Index>(list.size());
  }
  template <class T>
  Index operator()(const T&) const {
    return 0;
  }
};

}  // namespace

std::vector<Subgraph> subgraphs_of(const Node& node) {
  std::vector<Subgraph> found;
  for (const auto& [name, attribute] : node.attributes) {
    if (const auto* one = std::get_if<std::shared_ptr<const Graph>>(&attribute.is)) {
      if (*one) found.push_back({name, *one});
    } else if (const auto* list =
                   std::get_if<std::vector<std::shared_ptr<const Graph>>>(&attribute.is)) {
      for (std::size_t k = 0; k < list->size(); ++k) {
        if ((*list)[k]) found.push_back({name + "[" + std::to_string(k) + "]", (*list)[k]});
      }
    }
  }
  return found;
}

std::vector<std::string> captured_names(const Graph& graph) {
  std::vector<std::string> names;
  std::unordered_set<std::string> seen;
  std::vector<Open> stack;
  std::vector<std::pair<std::size_t, Subgraph>>
      waiting;  // with the stack height that each subgraph belongs on
  stack.push_back(enter(graph));
  const auto use = [&](const std::string& name) {
    if (name.empty() || seen.count(name) > 0) return;
    const bool inside = std::any_of(stack.begin(), stack.end(),
                                    [&](const Open& open) { return open.defined.count(name) > 0; });
    if (inside) return;
    seen.insert(name);
    names.push_back(name);
  };
  while (!stack.empty()) {
    if (!waiting.empty() && waiting.back().first == stack.size()) {
      const std::shared_ptr<const Graph> inner = waiting.back().second.graph;
      waiting.pop_back();
      stack.push_back(enter(*inner));
      continue;
    }
    Open& open = stack.back();
    if (open.next == open.graph->nodes.size()) {
      for (const ValueInfo& output : open.graph->outputs) use(output.name);
      stack.pop_back();
      continue;
    }
    const Node& node = open.graph->nodes[open.next++];
    for (const std::string& input : node.inputs) use(input);
    for (Subgraph& inner : subgraphs_of(node)) waiting.emplace_back(stack.size(), std::move(inner));
  }
  return names;
}

std::vector<std::string> names_used(const Node& node) {
  std::vector<std::string> names;
  for (const std::string& input : node.inputs) {
    if (!input.empty()) names.push_back(input);
  }
  for (const Subgraph& inner : subgraphs_of(node)) {
    for (std::string& name : captured_names(*inner.graph)) names.push_back(std::move(name));
  }
  return names;
}

void for_each_node(const std::vector<Node>& nodes, const std::function<void(const Node&)>& visit) {
  std::vector<const std::vector<Node>*> stack{&nodes};
  while (!stack.empty()) {
    const std::vector<Node>& list = *stack.back();
    stack.pop_back();
    for (const Node& node : list) {
      visit(node);
      for (const Subgraph& inner : subgraphs_of(node)) stack.push_back(&inner.graph->nodes);
    }
  }
}

Index weight_of(const Node& node) {
  Index nodes = 0, entries = 0;
  std::vector<const Node*> waiting{&node};
  while (!waiting.empty()) {
    const Node& next = *waiting.back();
    waiting.pop_back();
    ++nodes;
    entries += static_cast<Index>(next.inputs.size() + next.outputs.size());
    for (const auto& [name, attribute] : next.attributes)
      entries += std::visit(Entries(), attribute.is);
    for (const Subgraph& inner : subgraphs_of(next)) {
      for (const Node& each : inner.graph->nodes) waiting.push_back(&each);
    }
  }
  return nodes + entries / entries_of_a_node;
}

int depth_of(const Graph& graph) {
  int deepest = 0;
  std::vector<std::pair<const Graph*, int>> stack{{&graph, 1}};
  while (!stack.empty()) {
    const auto [open, depth] = stack.back();
    stack.pop_back();
    deepest = std::max(deepest, depth);
    for (const Node& node : open->nodes) {
      for (const Subgraph& inner : subgraphs_of(node))
        stack.push_back({inner.graph.get(), depth + 1});
    }
  }
  return deepest;
}

}  // namespace touchstone
