// Reverse-mode differentiation, expressed as nodes before a model runs. Every executor can then run
// derivatives, and a derivative of a derivative is one more pass. The pass goes backwards from y,
// as the chain rule does for one output of many inputs.
#include "model/derive.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "core/budget_watch.h"
#include "model/derive_body.h"
#include "model/model.h"
#include "model/place.h"
#include "model/rules.h"
#include "model/scopes.h"

namespace touchstone {
namespace {

std::vector<std::string> texts(const Node& node, const char* name) {
  const auto found = node.attributes.find(name);
  return found == node.attributes.end() ? std::vector<std::string>{}
                                        : std::get<std::vector<std::string>>(found->second.is);
}

bool asks_for_derivatives(const Node& node) {
  return node.signature != nullptr && node.signature->form == "derivative";
}

Error wrong(const Node& node, const std::string& message) {
  return breach("model/derivative", message).with_place(place_of(node, ""));
}

class Derivation {
 public:
  Derivation(Graph& graph, const Limits& limits)
      : graph_(graph), limits_(limits), made_(limits.nodes) {}

  void run() {
    for (std::size_t k = 0; k < graph_.nodes.size(); ++k) {
      if (asks_for_derivatives(graph_.nodes[k])) derive(k);
    }
  }

 private:
  // A derivative node and its request.
  struct Asked {
    std::size_t at;
    std::string y;
    std::vector<std::string> xs, zs;
    std::set<std::string> given;  // the union of xs and zs
    // Nodes of the graph from these values to y, in graph order.
    std::vector<std::size_t> used = {};
    // Values that those nodes and y need, the given ones included.
    std::set<std::string> needed = {};
    std::size_t next = 0;  // position in used: earlier nodes are not derivative nodes any more
  };

  // Expands the derivatives that y depends on first, by an explicit stack.
  void derive(std::size_t first) {
    std::vector<Asked> stack;
    std::set<std::size_t> open;
    const auto enter = [&](std::size_t at) {
      if (!open.insert(at).second) throw wrong(graph_.nodes[at], "y depends on its own derivative");
      hold_depth(at, static_cast<Index>(stack.size()) + 1);
      stack.push_back(asked(at));
      find_used(stack.back());
    };
    enter(first);
    while (!stack.empty()) {
      Asked& top = stack.back();
      while (top.next < top.used.size() && !asks_for_derivatives(graph_.nodes[top.used[top.next]]))
        ++top.next;
      if (top.next < top.used.size()) {
        enter(top.used[top.next]);
        continue;
      }
      Index depth = 1;
      for (const std::size_t k : top.used) {
        if (const auto found = depths_.find(k); found != depths_.end())
          depth = std::max(depth, found->second + 1);
      }
      hold_depth(top.at, depth);
      depths_[top.at] = depth;
      placed([&] { return place_of(graph_.nodes[top.at], ""); }, [&] { make(top); });
      open.erase(top.at);
      stack.pop_back();
    }
  }

  void hold_depth(std::size_t at, Index depth) const {
    if (depth > limits_.graph_depth)
      throw over_limit("graph_depth", depth, limits_.graph_depth)
          .with_place(place_of(graph_.nodes[at], ""))
          .with_help("take fewer derivatives of derivatives");
  }

  Asked asked(std::size_t at) const {
    const Node& node = graph_.nodes[at];
    const std::vector<std::string> xs = texts(node, "xs"), zs = texts(node, "zs");
    std::set<std::string> given(xs.begin(), xs.end());
    given.insert(zs.begin(), zs.end());
    const std::size_t point = xs.size() + zs.size();
    if (given.size() != point) throw wrong(node, "a name stands twice in xs and zs");
    if (point != node.inputs.size())
      throw wrong(node, std::to_string(node.inputs.size()) + " inputs are given for " +
                            std::to_string(point) + " names in xs and zs");
    if (node.outputs.size() > xs.size())
      throw wrong(node, std::to_string(node.outputs.size()) + " outputs are asked of " +
                            std::to_string(xs.size()) + " names in xs");
    return {at, std::get<std::string>(node.attributes.at("y").is), xs, zs, std::move(given)};
  }

  // Collects the nodes from given values and constants to y, backwards from y.
  void find_used(Asked& asked) {
    if (makers_.empty()) {
      for (std::size_t k = 0; k < graph_.nodes.size(); ++k) {
        for (const std::string& name : graph_.nodes[k].outputs) {
          if (!name.empty()) makers_.emplace(name, k);
        }
      }
    }
    std::set<std::size_t> used;
    std::vector<std::string> waiting{asked.y};
    asked.needed.insert(asked.y);
    BudgetWatch watch;
    while (!waiting.empty()) {
      watch.step();
      const std::string name = std::move(waiting.back());
      waiting.pop_back();
      const auto maker = makers_.find(name);
      if (asked.given.contains(name) || maker == makers_.end()) continue;
      if (!used.insert(maker->second).second) continue;
      for (std::string& next : names_used(graph_.nodes[maker->second])) {
        if (asked.needed.insert(next).second) waiting.push_back(std::move(next));
      }
    }
    asked.used.assign(used.begin(), used.end());
  }

  void make(const Asked& asked) {
    Node& node = graph_.nodes[asked.at];
    DerivativeBody body(made_);
    forward(asked, body);
    auto function = std::make_shared<Function>();
    function->name = node.op;
    function->domain = node.domain;
    function->inputs = asked.xs;
    function->inputs.insert(function->inputs.end(), asked.zs.begin(), asked.zs.end());
    function->attributes = {"xs", "y"};
    if (!asked.zs.empty()) function->attributes.push_back("zs");
    function->outputs = backward(node, asked.y, asked.xs, body);
    function->outputs.resize(node.outputs.size());
    body.open_all();
    function->nodes = std::move(body.nodes);
    function->charge = std::make_shared<Charge>(made_.take_charge());
    node.function = std::move(function);
    node.signature = nullptr;
  }

  void forward(const Asked& asked, DerivativeBody& body) const {
    std::set<std::string> made = asked.given;
    for (const std::size_t k : asked.used)
      made.insert(graph_.nodes[k].outputs.begin(), graph_.nodes[k].outputs.end());
    BudgetWatch watch;
    for (const std::string& name : asked.needed) {
      watch.step();
      if (made.contains(name)) continue;
      const auto held = graph_.initializers.find(name);
      if (held == graph_.initializers.end())
        throw wrong(graph_.nodes[asked.at], "'" + asked.y + "' depends on '" + name +
                                                "', which is neither in xs nor in zs");
      body.call(written("held"), {}, {name}).attributes["value"].is = held->second;
    }
    std::vector<Node> constants = std::move(body.nodes);
    body.nodes.clear();
    for (const Node& constant : constants) body.add(constant);
    for (const std::size_t k : asked.used) body.add(graph_.nodes[k]);
  }

  // Returns the names of the derivatives by xs.
  static std::vector<std::string> backward(const Node& asking, const std::string& y,
                                           const std::vector<std::string>& xs,
                                           DerivativeBody& body) {
    const std::vector<Node> path = body.nodes;
    std::set<std::string> active(xs.begin(), xs.end());
    BudgetWatch watch;
    for (const Node& node : path) {
      watch.step();
      const std::vector<std::string> used = names_used(node);
      if (std::any_of(used.begin(), used.end(),
                      [&](const std::string& name) { return active.count(name) > 0; }))
        active.insert(node.outputs.begin(), node.outputs.end());
    }
    active.erase("");
    std::unordered_map<std::string, std::string> by;  // value -> derivative of y by it
    by[y] = body.call("ones", {y});
    for (auto node = path.rbegin(); node != path.rend(); ++node, watch.step()) {
      if (std::none_of(node->outputs.begin(), node->outputs.end(), [&](const std::string& name) {
            return active.count(name) > 0 && by.count(name) > 0;
          }))
        continue;
      through(asking, *node, active, by, body);
    }
    std::vector<std::string> results;
    for (const std::string& x : xs)
      results.push_back(body.call("floating", {by.count(x) > 0 ? by[x] : body.call("zeros", {x})}));
    return results;
  }

  // Propagates the derivatives by a node's outputs to its inputs, and adds them to the
  // contributions of other nodes.
  static void through(const Node& asking, const Node& node, const std::set<std::string>& active,
                      std::unordered_map<std::string, std::string>& by, DerivativeBody& body) {
    const Signature& signature = *node.signature;
    const std::string version =
        operator_name(node.domain, node.op) + "-" + std::to_string(signature.since);
    const std::shared_ptr<const Function> function = written(version);
    if (!function)
      throw Error(ErrorKind::unsupported, "unsupported: the derivative of " + version)
          .with_place(place_of(asking, ""));
    const auto named = [](const std::vector<std::string>& names, std::size_t k) {
      return k < names.size() ? names[k] : std::string();
    };
    std::vector<std::string> inputs, outputs;
    for (std::size_t k = 0; k < signature.inputs.size(); ++k)
      inputs.push_back(named(node.inputs, k));
    for (std::size_t k = 0; k < signature.outputs.size(); ++k)
      inputs.push_back(named(node.outputs, k));
    for (std::size_t k = 0; k < signature.outputs.size(); ++k) {
      const std::string name = named(node.outputs, k);
      if (!name.empty() && by.count(name) == 0) by[name] = body.call("zeros", {name});
      inputs.push_back(name.empty() ? "" : by[name]);
    }
    // Per input: the name of its contribution.
    std::vector<std::pair<std::string, std::string>> said;
    for (const std::string& output : function->outputs) {
      std::size_t k = 0;
      while (k < signature.inputs.size() && output != "d_" + std::string(signature.inputs[k].name))
        ++k;
      const std::string name = named(node.inputs, k);
      outputs.push_back(active.count(name) > 0 ? body.fresh(output) : "");
      if (!outputs.back().empty()) said.emplace_back(name, outputs.back());
    }
    Node& call = body.call(function, inputs, outputs);
    for (const auto& [name, attribute] : node.attributes) {
      const bool taken =
          function->default_attributes.count(name) > 0 ||
          std::count(function->attributes.begin(), function->attributes.end(), name) > 0;
      if (taken) call.attributes.emplace(name, attribute);
    }
    const bool all =
        std::all_of(function->attributes.begin(), function->attributes.end(),
                    [&](const std::string& name) { return call.attributes.count(name) > 0; });
    if (!all) body.open_last();
    for (const auto& [name, made] : said) {
      const std::string whole = body.call("folded", {made, name});
      const auto known = by.find(name);
      by[name] = known == by.end() ? whole : body.call("plus", {known->second, whole});
    }
  }

  Graph& graph_;
  const Limits& limits_;
  MadeNodes made_;
  std::unordered_map<std::string, std::size_t> makers_;  // by output value
  std::unordered_map<std::size_t, Index> depths_;        // by position of a derivative node
};

}  // namespace

void derive(Graph& graph, const Limits& limits) { Derivation(graph, limits).run(); }

}  // namespace touchstone
