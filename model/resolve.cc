// Binds nodes to signatures and functions. Functions come first, and recursive calls are refused,
// so that a bound model has no cycle of owners.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_set>

#include "core/budget_watch.h"
#include "core/nearest.h"
#include "model/custom.h"
#include "model/model.h"
#include "model/place.h"
#include "model/rules.h"
#include "model/scopes.h"

namespace touchstone {
namespace {

using FunctionKey = std::tuple<std::string, std::string, std::string>;
using Functions = std::map<FunctionKey, std::shared_ptr<const Function>>;

FunctionKey key_of(const Node& node) { return {node.domain, node.op, node.overload}; }

std::shared_ptr<const Function> called(const Functions& functions, const Node& node) {
  const auto found = functions.find(key_of(node));
  return found == functions.end() ? nullptr : found->second;
}

std::vector<const Function*> calls_of(const Functions& functions, const Function& function) {
  std::set<const Function*> calls;
  for_each_node(function.nodes, [&](const Node& node) {
    if (const auto callee = called(functions, node)) calls.insert(callee.get());
  });
  return {calls.begin(), calls.end()};
}

std::string name_of(const Function& function) {
  const std::string name = operator_name(function.domain, function.name);
  return function.overload.empty() ? name : name + ":" + function.overload;
}

// A bound function owns its callees and destroys them recursively, so chains are bounded regardless
// of the caller's limits.
constexpr Index longest_chain = 1000;

// Depth-first search with an explicit stack; a call of a function that is still open closes a
// cycle.
void refuse_recursion(const Functions& functions) {
  struct Open {
    const Function* function;
    std::vector<const Function*> calls;
    std::size_t next = 0;
  };
  std::set<const Function*> entered;
  std::map<const Function*, Index> chains;  // longest chain from each function that is finished
  for (const auto& [key, start] : functions) {
    if (!entered.insert(start.get()).second) continue;
    std::vector<Open> stack;
    stack.push_back({start.get(), calls_of(functions, *start)});
    while (!stack.empty()) {
      Open& open = stack.back();
      if (open.next == open.calls.size()) {
        Index longest = 0;
        for (const Function* callee : open.calls) longest = std::max(longest, chains.at(callee));
        if (++longest > longest_chain)
          throw over_limit("graph_depth", longest, longest_chain)
              .with_help("inline some of the functions");
        chains[open.function] = longest;
        stack.pop_back();
        continue;
      }
      const Function* callee = open.calls[open.next++];
      if (entered.insert(callee).second) {
        if (static_cast<Index>(stack.size()) >= longest_chain)
          throw over_limit("graph_depth", longest_chain + 1, longest_chain)
              .with_help("inline some of the functions");
        stack.push_back({callee, calls_of(functions, *callee)});
        continue;
      }
      if (chains.contains(callee)) continue;  // finished earlier
      std::string path;
      for (const Open& around : stack) {
        if (path.empty() && around.function != callee) continue;
        path += name_of(*around.function) + " -> ";
      }
      throw breach("model/function-recursion",
                   "a function calls itself: " + path + name_of(*callee))
          .with_place("function " + name_of(*callee));
    }
  }
}

// Domain of ONNX Runtime's own operators, which its optimizers write into saved models.
constexpr std::string_view onnxruntime_domain = "com.microsoft";

bool is_inside(std::string_view domain, std::string_view around) {
  return domain.starts_with(around) &&
         (domain.size() == around.size() || domain[around.size()] == '.');
}

// Help for an operator without a signature in this opset; "" if the rule's own help suffices.
std::string help_for(const Node& node, Index opset) {
  const std::string name = operator_name(node.domain, node.op);
  if (newest_opset(node.domain) == 0) {
    const std::string define = ", or add functions that define them";
    if (is_inside(node.domain, onnxruntime_domain))
      return "the standard has no domain '" + node.domain +
             "', it is ONNX Runtime's own: save the model with its optimisations at "
             "ORT_ENABLE_BASIC or below" +
             define;
    return "the standard has no domain '" + node.domain + "': export without its operators" +
           define;
  }
  std::vector<std::string_view> names;
  Index first = 0;
  for (const Signature& signature : all_signatures()) {
    if (signature.domain != node.domain) continue;
    if (names.empty() || names.back() != signature.op) names.push_back(signature.op);
    if (signature.op == node.op && first == 0) first = signature.since;
  }
  if (first > opset)
    return name + " came with opset " + std::to_string(first) + ": import that, or a newer one";
  const std::string near = did_you_mean(node.op, names);
  return near.empty() ? "" : near + "Else check the domain and the imported version";
}

// Binds nodes in one pass with one set of imports. Unknown operators are collected, so that one
// error names them all.
class Binder {
 public:
  explicit Binder(const Functions& functions) : functions_(functions) {}

  void bind(std::vector<Node>& nodes, const std::map<std::string, Index>& opsets,
            const std::string& path) {
    BudgetWatch watch;
    for (Node& node : nodes) {
      watch.step();
      bind(node, opsets, path);
      for (auto& [name, attribute] : node.attributes) {
        bind(attribute, opsets, [&, &held = name] { return subgraph_path(path, node, held); });
      }
    }
  }

  void finish() const {
    if (unknown_.empty()) return;
    std::string list;
    for (const std::string& name : listed_) list += (list.empty() ? "" : ", ") + name;
    if (unknown_.size() > listed_.size())
      list += " and " + std::to_string(unknown_.size() - listed_.size()) + " more";
    Error error = breach("model/operator-unknown", "unknown: " + list).with_place(first_);
    if (!help_.empty()) error.help = help_;
    throw error;
  }

 private:
  void bind(Node& node, const std::map<std::string, Index>& opsets, const std::string& path) {
    node.signature = nullptr;
    node.function = called(functions_, node);
    if (node.function) return;  // a function of the model overrides an operator of the same name
    const auto place = [&] { return place_of(node, path); };
    const auto import = opsets.find(node.domain);
    const bool custom = knows_custom(node.domain, node.op);
    if (import == opsets.end()) {
      if (newest_opset(node.domain) == 0 && !custom) return note(node, std::nullopt, place);
      throw breach("model/opset-missing", "domain '" + node.domain + "' is not imported")
          .with_place(place());
    }
#ifndef TOUCHSTONE_BUNDLE  // whose models were resolved with all versions, of which it knows some
    const Index newest = newest_opset(node.domain);
    if (newest > 0 && import->second > newest) {
      throw breach("model/version-unknown", "domain '" + node.domain + "' is imported in version " +
                                                std::to_string(import->second) + ", and " +
                                                std::to_string(newest) +
                                                " is the newest that is known")
          .with_place(place());
    }
#endif
    node.signature = custom ? find_custom(node.domain, node.op, import->second)
                            : find_signature(node.domain, node.op, import->second);
    if (node.signature == nullptr) {
      note(node, import->second, place);
    }
  }

  // Copies of a model share the graphs in attributes, so binding works on a copy of its own.
  template <class Path>
  void bind(Attribute& attribute, const std::map<std::string, Index>& opsets, const Path& path) {
    const auto rebind = [&](std::shared_ptr<const Graph>& graph, const std::string& inner) {
      if (!graph) return;
      auto bound = std::make_shared<Graph>(*graph);
      bind(bound->nodes, opsets, inner);
      graph = std::move(bound);
    };
    if (auto* one = std::get_if<std::shared_ptr<const Graph>>(&attribute.is)) {
      rebind(*one, path());
    } else if (auto* list = std::get_if<std::vector<std::shared_ptr<const Graph>>>(&attribute.is)) {
      for (auto& graph : *list) rebind(graph, path());
    }
  }

  // Records an unknown operator. No opset: its domain is not imported.
  template <class Place>
  void note(const Node& node, std::optional<Index> opset, const Place& place) {
    std::string name = operator_name(node.domain, node.op);
    if (opset) name += " in opset " + std::to_string(*opset);
    if (!unknown_.insert(name).second) return;
    if (unknown_.size() == 1) first_ = place(), help_ = help_for(node, opset.value_or(0));
    if (listed_.size() < max_listed) listed_.push_back(name);
  }

  static constexpr std::size_t max_listed = 100;

  const Functions& functions_;
  std::unordered_set<std::string> unknown_;
  std::vector<std::string> listed_;  // in order of first use
  std::string first_, help_;         // place of the first unknown operator, and help for it
};

}  // namespace

void resolve(Model& model) {
  Functions functions;
  for (const auto& function : model.functions) {
    functions.emplace(FunctionKey{function->domain, function->name, function->overload}, function);
  }
  refuse_recursion(functions);
  Binder binder(functions);
  for (const auto& function : model.functions) {
    binder.bind(function->nodes, function->opsets, operator_name(function->domain, function->name));
  }
  binder.bind(model.graph.nodes, model.opsets, "");
  binder.finish();
}

}  // namespace touchstone
