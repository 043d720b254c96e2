// Finds a cycle among nodes, once a node is known to use a value before it is defined.
#include "model/check_graph.h"
#include "model/scopes.h"

namespace touchstone {

std::vector<std::size_t> find_cycle(const std::vector<Node>& nodes) {
  std::unordered_map<std::string, std::size_t> producer;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    for (const std::string& output : nodes[k].outputs) {
      if (!output.empty()) producer.emplace(output, k);
    }
  }
  const auto needs_of = [&](std::size_t k) {
    std::vector<std::size_t> needs;
    for (const std::string& name : names_used(nodes[k])) {
      if (const auto found = producer.find(name); found != producer.end())
        needs.push_back(found->second);
    }
    return needs;
  };
  enum class State : char { fresh, open, left };
  std::vector<State> states(nodes.size(), State::fresh);
  struct Open {
    std::size_t node;
    std::vector<std::size_t> needs;
    std::size_t next = 0;
  };
  for (std::size_t start = 0; start < nodes.size(); ++start) {
    if (states[start] != State::fresh) continue;
    std::vector<Open> stack;
    const auto enter = [&](std::size_t k) {
      states[k] = State::open;
      stack.push_back({k, needs_of(k)});
    };
    enter(start);
    while (!stack.empty()) {
      Open& open = stack.back();
      if (open.next == open.needs.size()) {
        states[open.node] = State::left;
        stack.pop_back();
        continue;
      }
      const std::size_t need = open.needs[open.next++];
      if (states[need] == State::fresh) {
        enter(need);
      } else if (states[need] == State::open) {
        std::vector<std::size_t> cycle;
        for (const Open& around : stack) {
          if (!cycle.empty() || around.node == need) cycle.push_back(around.node);
        }
        return cycle;
      }
    }
  }
  return {};
}

}  // namespace touchstone
