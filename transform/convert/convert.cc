// Converts a model one opset at a time, up or down. Each step rebuilds the graphs and functions
// that the domain's new version affects; conditions and replacements query the model as it was
// before the step.
#include "transform/convert/convert.h"

#include <algorithm>

#include "core/budget_watch.h"
#include "core/error.h"
#include "model/model.h"
#include "model/place.h"
#include "model/scopes.h"
#include "transform/convert/clean_up.h"
#include "transform/convert/copy_attributes.h"
#include "transform/convert/node_rewriter.h"
#include "transform/convert/step.h"

namespace touchstone::transform {

namespace {

std::string shown(const std::string& domain) { return domain.empty() ? "ai.onnx" : domain; }

std::string versioned(const Node& node, Index since) {
  return operator_name(node.domain, node.op) + "-" + std::to_string(since);
}

const Step* step_between(const Signature& from, Index to) {
  for (const Step& step : all_steps()) {
    if (step.domain == from.domain && step.op == from.op && step.from == from.since &&
        step.to == to)
      return &step;
  }
  return nullptr;
}

class Converter {
 public:
  Converter(Model model, const Limits& limits)
      : model_(std::move(model)), limits_(limits), fresh_(model_), uses_(model_) {}

  void convert(const std::string& domain, Index opset) {
    forget_unknown(domain);
    for (std::size_t k = 0; k < model_.functions.size(); ++k) {
      const std::shared_ptr<Function> function = model_.functions[k];
      if (!function->opsets.contains(domain)) continue;
      while (model_.functions[k]->opsets[domain] != opset) step_function(k, domain, opset);
    }
    lower_ = lower_ || opset < model_.opsets[domain];
    while (model_.opsets[domain] != opset) step_graph(domain, opset);
  }

  Converted finish() {
    uses_.clean_up(model_);
    fit_format(model_, lower_);
    number(model_);
    require_valid(model_, limits_);
    return {std::move(model_), std::move(steps_)};
  }

 private:
  // Graph or function body under conversion, with the scope that its nodes' queries use.
  struct Place {
    const Scope& scope;
    std::string path;
    std::map<std::string, Tensor>* constants;  // null in a function, where constants must be nodes
  };

  // Clamps imported versions that do not exist. No node is of such a domain version, so there is
  // nothing to convert.
  void forget_unknown(const std::string& domain) {
    const Index newest = newest_opset(domain);
    Index& main = model_.opsets[domain];
    lower_ = lower_ || main > newest;
    main = std::clamp<Index>(main, 0, newest);
    for (const std::shared_ptr<Function>& function : model_.functions) {
      const auto own = function->opsets.find(domain);
      if (own != function->opsets.end()) own->second = std::clamp<Index>(own->second, 0, newest);
    }
  }

  static Index next(Index at, Index opset) { return at < opset ? at + 1 : at - 1; }

  bool changes(const std::vector<Node>& nodes) const {
    bool any = false;
    for_each_node(nodes, [&](const Node& node) {
      any = any || (node.signature != nullptr && node.domain == domain_ &&
                    imports_.find(node.domain, node.op) != node.signature);
    });
    return any;
  }

  void start(const std::string& domain, Index at, const std::map<std::string, Index>& opsets) {
    domain_ = domain;
    imports_.opsets = opsets;
    from_ = opsets.at(domain);
    imports_.opsets[domain] = at;
  }

  void step_graph(const std::string& domain, Index opset) {
    const Index at = next(model_.opsets[domain], opset);
    start(domain, at, model_.opsets);
    if (changes(model_.graph.nodes)) {
      Knowledge knowledge(model_, limits_);
      model_.graph = converted(model_.graph, nullptr, "", knowledge);
    }
    model_.opsets[domain] = at;
  }

  void step_function(std::size_t k, const std::string& domain, Index opset) {
    const Function& function = *model_.functions[k];
    const Index at = next(function.opsets.at(domain), opset);
    start(domain, at, function.opsets);
    auto made = std::make_shared<Function>(function);
    if (changes(function.nodes)) {
      Knowledge knowledge(model_, limits_);
      const Scope scope(function, knowledge);
      const std::string path = operator_name(function.domain, function.name);
      made->nodes = converted(function.nodes, {scope, path, nullptr}, knowledge);
    }
    made->opsets[domain] = at;
    model_.functions[k] = std::move(made);
    resolve(model_);  // calls now refer to the new function
  }

  Graph converted(const Graph& graph, const Scope* outer, const std::string& path,
                  Knowledge& knowledge) {
    const Scope scope(graph, outer, knowledge);
    Graph made = graph;
    made.nodes = converted(graph.nodes, {scope, path, &made.initializers}, knowledge);
    return made;
  }

  std::vector<Node> converted(const std::vector<Node>& nodes, const Place& place,
                              Knowledge& knowledge) {
    std::vector<Node> made;
    BudgetWatch watch;
    for (const Node& node : nodes) {
      watch.step();
      Node copy = node;
      for (auto& [name, attribute] : copy.attributes) {
        const std::string inner = subgraph_path(place.path, node, name);
        if (auto* one = std::get_if<std::shared_ptr<const Graph>>(&attribute.is)) {
          if (*one && changes((*one)->nodes))
            *one = std::make_shared<const Graph>(converted(**one, &place.scope, inner, knowledge));
        } else if (auto* all =
                       std::get_if<std::vector<std::shared_ptr<const Graph>>>(&attribute.is)) {
          for (auto& each : *all) {
            if (each && changes(each->nodes))
              each =
                  std::make_shared<const Graph>(converted(*each, &place.scope, inner, knowledge));
          }
        }
      }
      const bool stays = node.signature == nullptr || node.domain != domain_ ||
                         imports_.find(node.domain, node.op) == node.signature;
      if (stays) {
        made.push_back(std::move(copy));
      } else {
        step_node(node, copy, place, made);
      }
    }
    return made;
  }

  // `copy` is the node with its subgraphs converted. Appends its replacement to `made`.
  void step_node(const Node& node, const Node& copy, const Place& place, std::vector<Node>& made) {
    static constexpr Piece plain[] = {{nullptr, nullptr}};
    const Signature* to = imports_.find(node.domain, node.op);
    const Index since = to != nullptr ? to->since : 0;
    const Step* step = step_between(*node.signature, since);
    const NodeMatch found(copy, place.scope);
    std::string missed;
    if (to == nullptr && step == nullptr) missed = "the operator is not there";
    if (to != nullptr && !to->deprecated) missed = types_missed(found, *to, false);
    const bool fits = missed.empty();
    for (const Piece& piece : step != nullptr ? step->pieces : std::span<const Piece>(plain)) {
      if (!fits || !holds(piece, found)) continue;
      if (piece.replace != nullptr) {
        if (replaced(piece, found, place, made)) return count(node, since, true);
        continue;
      }
      Node carried = copy;
      missed = copy_attributes(found, *to, carried);
      if (!missed.empty()) continue;
      made.push_back(std::move(carried));
      return count(node, since, false);
    }
    if (missed.empty()) missed = step->lacking;
    refuse(node, place.path, since, step, missed);
  }

  static bool holds(const Piece& piece, const NodeMatch& found) {
    try {
      return piece.when == nullptr || piece.when(found);
    } catch (const NotKnown&) {
      return false;
    } catch (const Error& error) {  // a list is shorter than the condition assumes
      if (error.kind == ErrorKind::internal) throw;
      return false;
    }
  }

  // Returns false if the replacement needs a fact that is not known, or a computation that no
  // kernel supports.
  bool replaced(const Piece& piece, const NodeMatch& found, const Place& place,
                std::vector<Node>& made) {
    NodeRewriter rewrite(found, imports_, fresh_);
    Made plan;
    try {
      piece.replace(rewrite);
      plan = rewrite.finish();
    } catch (const NotKnown&) {
      return false;
    } catch (const Error& error) {
      if (error.kind == ErrorKind::internal) throw;
      check_budget();
      return false;
    }
    for (auto& [name, tensor] : plan.constants) {
      const bool is_output = std::find(found.node().outputs.begin(), found.node().outputs.end(),
                                       name) != found.node().outputs.end();
      if (place.constants != nullptr && !is_output) {
        place.constants->insert_or_assign(name, std::move(tensor));
      } else {
        made.push_back(constant_node(name, std::move(tensor), found.node(), imports_));
      }
    }
    for (Node& node : plan.nodes) made.push_back(std::move(node));
    return true;
  }

  [[noreturn]] void refuse(const Node& node, const std::string& path, Index since, const Step* step,
                           const std::string& lacking) const {
    const std::string from = versioned(node, node.signature->since);
    const std::string to = since > 0
                               ? versioned(node, since)
                               : "none in opset " + std::to_string(imports_.opsets.at(domain_));
    throw Error(ErrorKind::unsupported, from + " has no meaning in " + shown(domain_) + " " +
                                            std::to_string(imports_.opsets.at(domain_)) + ": " +
                                            lacking)
        .with_rule(
            "convert/" + from, from + " -> " + to,
            step != nullptr ? std::string(step->source) : std::string(node.signature->source))
        .with_place(place_of(node, path))
        .with_help("convert to " + shown(domain_) + " " + std::to_string(from_) +
                   ", where it has one, or change the node first");
  }

  void count(const Node& node, Index to, bool rewritten) {
    for (ConvertedNodes& step : steps_) {
      if (step.domain == node.domain && step.op == node.op && step.from == node.signature->since &&
          step.to == to && step.rewritten == rewritten) {
        ++step.nodes;
        return;
      }
    }
    steps_.push_back({node.domain, node.op, node.signature->since, to, rewritten, 1});
  }

  Model model_;
  const Limits& limits_;
  Fresh fresh_;
  Uses uses_;
  std::vector<ConvertedNodes> steps_;
  std::string domain_;  // the domain under conversion and its opset before the step
  Index from_ = 0;
  bool lower_ = false;  // true if any opset was lowered
  Imports imports_;
};

void require_known(const Model& model, const std::string& domain, Index opset) {
  if (!model.opsets.contains(domain)) {
    throw Error(ErrorKind::usage, "the model does not import " + shown(domain))
        .with_help("name a domain that `touchstone show` lists");
  }
  const Index newest = newest_opset(domain);
  if (newest == 0) throw Error(ErrorKind::usage, "no version of " + shown(domain) + " is known");
  if (opset < 1 || opset > newest) {
    throw Error(ErrorKind::usage, shown(domain) + " has no version " + std::to_string(opset))
        .with_help("its versions are 1 to " + std::to_string(newest));
  }
}

}  // namespace

Converted convert(Model model, const std::map<std::string, Index>& opsets, const Limits& limits) {
  for (const auto& [domain, opset] : opsets) require_known(model, domain, opset);
  const LimitsScope scope(limits);
  Converter converter(std::move(model), limits);
  for (const auto& [domain, opset] : opsets) converter.convert(domain, opset);
  return converter.finish();
}

}  // namespace touchstone::transform
