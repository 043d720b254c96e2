// Checks a model and computes lifetimes once, before it runs.
#include "reference/plan.h"

#include <deque>
#include <map>
#include <set>
#include <unordered_map>

#include "model/check_node.h"
#include "model/custom.h"
#include "model/model.h"
#include "model/place.h"
#include "model/scopes.h"
#include "reference/registry.h"

namespace touchstone {
namespace {

struct Open {
  const std::vector<Node>* nodes;
  const DeclaredAttributes* around;
  std::string path;
};

class Scan {
 public:
  void add(const std::vector<Node>& nodes, const DeclaredAttributes* around, std::string path) {
    waiting_.push_back({&nodes, around, std::move(path)});
  }

  void go() {
    while (!waiting_.empty()) {
      const Open open = std::move(waiting_.back());
      waiting_.pop_back();
      for (const Node& node : *open.nodes) visit(node, open);
    }
    if (missing_.empty()) return;
    std::string list;
    for (const auto& [name, count] : missing_) {
      list += (list.empty() ? "" : ", ") + name + " (" + std::to_string(count) +
              (count == 1 ? " node)" : " nodes)");
    }
    throw Error(ErrorKind::unsupported, "unsupported: " + list);
  }

 private:
  void visit(const Node& node, const Open& open) {
    const auto place = [&] { return place_of(node, open.path); };
    check_node(node, open.around, [&](Error error) {
      error.place = place();
      throw error;
    });
    const std::vector<Subgraph> inner = subgraphs_of(node);
    if (node.function) {
      if (!inner.empty()) {
        throw Error(ErrorKind::unsupported, "unsupported: a graph as an attribute of a function")
            .with_place(place());
      }
      if (entered_.insert(node.function.get()).second) {
        declared_.emplace_back(*node.function);
        add(node.function->nodes, &declared_.back(), operator_name(node.domain, node.op));
      }
      return;
    }
    const ReferenceEntry* entry = find_entry(*node.signature);
    const bool runs = custom_operator(*node.signature) != nullptr ||
                      (entry != nullptr && entry->native != nullptr);
    if (!runs) {
      ++missing_[operator_name(node.domain, node.op) + "-" + std::to_string(node.signature->since)];
    }
    for (const Subgraph& graph : inner) {
      add(graph.graph->nodes, open.around, subgraph_path(open.path, node, graph.name));
    }
  }

  std::vector<Open> waiting_;
  std::set<const Function*> entered_;
  std::deque<DeclaredAttributes> declared_;  // per function entered
  std::map<std::string, Index> missing_;
};

}  // namespace

void refuse_what_cannot_run(const Model& model) {
  Scan scan;
  scan.add(model.graph.nodes, nullptr, "");
  scan.go();
}

Lifetimes plan_lifetimes(const std::vector<Node>& nodes, const std::vector<std::string>& inputs,
                         const std::vector<std::string>& outputs) {
  constexpr std::size_t never = static_cast<std::size_t>(-1);
  std::unordered_map<std::string, std::size_t> last;  // last use of each name that is defined here
  for (const std::string& input : inputs) last.emplace(input, never);
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    for (const std::string& name : names_used(nodes[k])) {
      if (const auto found = last.find(name); found != last.end()) found->second = k;
    }
    for (const std::string& output : nodes[k].outputs) {
      if (!output.empty()) last.emplace(output, k);
    }
  }
  for (const std::string& output : outputs) last.erase(output);
  Lifetimes dead(nodes.size());
  for (const auto& [name, k] : last) {
    if (k != never) dead[k].push_back(name);
  }
  return dead;
}

}  // namespace touchstone
