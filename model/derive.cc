// Derivatives are made before a model runs, out of nodes: so whatever runs nodes runs them, and a
// derivative of a derivative is one more walk over the same nodes. The walk goes from y back, as
// the chain rule does when y is one value of many.
#include "model/derive.h"

#include <algorithm>
#include <set>
#include <span>
#include <unordered_map>

#include "core/limits.h"
#include "model/model.h"
#include "model/place.h"
#include "model/rules.h"
#include "model/scopes.h"

namespace touchstone {
namespace {

using Call = std::shared_ptr<const Function>;
using Names = std::map<std::string, std::string>;

// A function of the entries: "ones", or "Mul-14" for the derivative of a version. Null if there is
// none.
Call written(const std::string& name) {
  static const std::map<std::string, Call> functions = [] {
    Model model = parse_model(std::as_bytes(std::span(derivative_bytes())), {}, Limits::trusted());
    resolve(model);
    std::map<std::string, Call> found;
    for (const auto& function : model.functions) found.emplace(function->name, function);
    return found;
  }();
  const auto found = functions.find(name);
  return found == functions.end() ? nullptr : found->second;
}

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

// The body of one function: nodes that make y, then nodes that make the derivatives.
class Body {
 public:
  // A node of the main graph as it is; in the place of a call what its function holds, so that each
  // has a signature.
  void add(const Node& node, const Names& names, const std::map<std::string, Attribute>* given) {
    const auto renamed = [&](const std::string& name) {
      const auto found = names.find(name);
      return found == names.end() ? name : found->second;
    };
    Node copy = node;
    for (std::string& name : copy.inputs) name = renamed(name);
    for (std::string& name : copy.outputs) name = renamed(name);
    if (given != nullptr) bind(copy, *given);
    if (copy.function) return add_inside(copy);
    if (given != nullptr && !subgraphs_of(copy).empty())
      throw Error(ErrorKind::unsupported,
                  "unsupported: a derivative through a function that holds graphs")
          .with_place(place_of(node, ""));
    copy.index = static_cast<Index>(nodes.size());
    nodes.push_back(std::move(copy));
  }

  // Gives the name of what the function makes of the inputs.
  std::string call(const char* function, std::vector<std::string> inputs) {
    const std::string made = fresh(function);
    call(written(function), std::move(inputs), {made});
    return made;
  }

  Node& call(Call function, std::vector<std::string> inputs, std::vector<std::string> outputs) {
    Node node;
    node.domain = function->domain;
    node.op = function->name;
    node.inputs = std::move(inputs);
    node.outputs = std::move(outputs);
    node.index = static_cast<Index>(nodes.size());
    node.function = std::move(function);
    nodes.push_back(std::move(node));
    return nodes.back();
  }

  // In the place of the call that was made last its nodes: a call may not leave an attribute out
  // that has no default.
  void open_last() {
    const Node node = std::move(nodes.back());
    nodes.pop_back();
    add(node, {}, nullptr);
  }

  // The same of all calls: what holds no call of functions that are in no file can be put in the
  // place of its own.
  void open_all() {
    const std::vector<Node> calls = std::move(nodes);
    nodes.clear();
    for (const Node& node : calls) add(node, {}, nullptr);
  }

  std::string fresh(const std::string& of) {
    return of + "~" + std::to_string(++made_);
  }  // no file is full of these

  std::vector<Node> nodes;

 private:
  static void bind(Node& node, const std::map<std::string, Attribute>& given) {
    for (auto at = node.attributes.begin(); at != node.attributes.end();) {
      const std::string& reference = at->second.reference;
      const auto found = reference.empty() ? given.end() : given.find(reference);
      if (!reference.empty() && found == given.end()) {
        at = node.attributes.erase(at);
      } else {
        if (!reference.empty()) at->second = found->second;
        ++at;
      }
    }
  }

  void add_inside(const Node& caller) {
    const Function& function = *caller.function;
    std::map<std::string, Attribute> given = caller.attributes;
    for (const auto& [name, standard] : function.default_attributes) given.emplace(name, standard);
    Names names;
    const std::string around = fresh(function.name) + "/";
    for (const Node& node : function.nodes) {
      for (const std::string& name : node.outputs) {
        if (!name.empty()) names[name] = around + name;
      }
    }
    for (std::size_t k = 0; k < function.outputs.size() && k < caller.outputs.size(); ++k) {
      if (!caller.outputs[k].empty()) names[function.outputs[k]] = caller.outputs[k];
    }
    for (const std::string& input : function.inputs) {
      if (std::count(function.outputs.begin(), function.outputs.end(), input) > 0)
        throw Error(ErrorKind::unsupported,
                    "unsupported: a derivative through a function that hands on an input");
    }
    for (std::size_t k = 0; k < function.inputs.size(); ++k) {
      names[function.inputs[k]] = k < caller.inputs.size() ? caller.inputs[k] : "";
    }
    for (const Node& node : function.nodes) add(node, names, &given);
  }

  int made_ = 0;
};

class Derivation {
 public:
  explicit Derivation(Graph& graph) : graph_(graph) {}

  void run() {
    for (std::size_t k = 0; k < graph_.nodes.size(); ++k) {
      if (asks_for_derivatives(graph_.nodes[k])) derive(k);
    }
  }

 private:
  void derive(std::size_t at) {
    if (!open_.insert(at).second) throw wrong(graph_.nodes[at], "y depends on its own derivative");
    Node& node = graph_.nodes[at];
    const std::vector<std::string> xs = texts(node, "xs"), zs = texts(node, "zs");
    const std::string y = std::get<std::string>(node.attributes.at("y").is);
    std::vector<std::string> point = xs;
    point.insert(point.end(), zs.begin(), zs.end());
    const std::set<std::string> given(point.begin(), point.end());
    if (given.size() != point.size()) throw wrong(node, "a name stands twice in xs and zs");
    if (point.size() != node.inputs.size())
      throw wrong(node, std::to_string(node.inputs.size()) + " inputs are given for " +
                            std::to_string(point.size()) + " names in xs and zs");
    if (node.outputs.size() > xs.size())
      throw wrong(node, std::to_string(node.outputs.size()) + " outputs are asked of " +
                            std::to_string(xs.size()) + " names in xs");
    Body body;
    forward(at, y, given, body);
    auto function = std::make_shared<Function>();
    function->name = node.op;
    function->domain = node.domain;
    function->inputs = point;
    function->attributes = {"xs", "y"};
    if (!zs.empty()) function->attributes.push_back("zs");
    function->outputs = backward(node, y, xs, body);
    function->outputs.resize(node.outputs.size());
    body.open_all();
    function->nodes = std::move(body.nodes);
    node.function = std::move(function);
    node.signature = nullptr;
  }

  // The nodes that make y of what is given and of constants.
  void forward(std::size_t at, const std::string& y, const std::set<std::string>& given,
               Body& body) {
    std::set<std::string> needed{y};
    std::vector<std::size_t> used;
    for (std::size_t k = graph_.nodes.size(); k-- > 0;) {
      const bool makes = std::any_of(graph_.nodes[k].outputs.begin(), graph_.nodes[k].outputs.end(),
                                     [&](const std::string& name) {
                                       return needed.count(name) > 0 && given.count(name) == 0;
                                     });
      if (!makes) continue;
      if (asks_for_derivatives(graph_.nodes[k])) derive(k);
      for (const std::string& name : names_used(graph_.nodes[k])) needed.insert(name);
      used.push_back(k);
    }
    std::set<std::string> made = given;
    for (const std::size_t k : used)
      made.insert(graph_.nodes[k].outputs.begin(), graph_.nodes[k].outputs.end());
    for (const std::string& name : needed) {
      if (made.count(name) > 0) continue;
      const auto held = graph_.initializers.find(name);
      if (held == graph_.initializers.end())
        throw wrong(graph_.nodes[at],
                    "'" + y + "' depends on '" + name + "', which is neither in xs nor in zs");
      body.call(written("held"), {}, {name}).attributes["value"].is = held->second;
    }
    std::vector<Node> constants = std::move(body.nodes);
    body.nodes.clear();
    for (const Node& constant : constants) body.add(constant, {}, nullptr);
    for (auto k = used.rbegin(); k != used.rend(); ++k) body.add(graph_.nodes[*k], {}, nullptr);
  }

  // The names of the derivatives by xs.
  static std::vector<std::string> backward(const Node& asking, const std::string& y,
                                           const std::vector<std::string>& xs, Body& body) {
    const std::vector<Node> path = body.nodes;
    std::set<std::string> active(xs.begin(), xs.end());
    for (const Node& node : path) {
      const std::vector<std::string> used = names_used(node);
      if (std::any_of(used.begin(), used.end(),
                      [&](const std::string& name) { return active.count(name) > 0; }))
        active.insert(node.outputs.begin(), node.outputs.end());
    }
    active.erase("");
    std::unordered_map<std::string, std::string> by;  // value -> the derivative of y by it
    by[y] = body.call("ones", {y});
    for (auto node = path.rbegin(); node != path.rend(); ++node) {
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

  // What a node makes of the derivatives by its outputs: those by its inputs, added to what other
  // nodes said of them.
  static void through(const Node& asking, const Node& node, const std::set<std::string>& active,
                      std::unordered_map<std::string, std::string>& by, Body& body) {
    const Signature& signature = *node.signature;
    const std::string version =
        operator_name(node.domain, node.op) + "-" + std::to_string(signature.since);
    const Call function = written(version);
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
    std::vector<std::pair<std::string, std::string>> said;  // of an input: what the function makes
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
  std::set<std::size_t> open_;
};

}  // namespace

void derive(Graph& graph) { Derivation(graph).run(); }

}  // namespace touchstone
