// Judges a region in the order of its nodes, with the target's values where they were observed and
// with bounds elsewhere.
#include "conformance/compare/region.h"

#include <algorithm>

#include "conformance/compare/carried.h"
#include "conformance/single_node.h"
#include "core/error.h"
#include "model/scopes.h"

namespace touchstone::compare {
namespace {

class Walk {
 public:
  Walk(const Model& model, const std::map<std::string, Value>& values,
       const judge::JudgeOptions& options, const Interpretation& interpretation)
      : graph_(model.graph), values_(values), options_(options), interpretation_(interpretation) {}

  void visit(const Node& node) {
    if (const std::string why = conformance::why_not_judged(node); !why.empty()) {
      throw Error(ErrorKind::unsupported, why);
    }
    std::vector<Carried> inputs;
    std::vector<Value> outputs;
    for (const std::string& name : node.inputs) inputs.push_back(value(name));
    for (const std::string& name : node.outputs) {
      const auto seen = values_.find(name);
      outputs.push_back(name.empty() || seen == values_.end() ? Value{} : seen->second);
    }
    const bool all_seen = std::all_of(inputs.begin(), inputs.end(),
                                      [](const Carried& input) { return input.bound.empty(); });
    const auto is_hidden = [&](std::size_t k) {
      return !node.outputs[k].empty() && !values_.contains(node.outputs[k]);
    };
    std::optional<CarriedNode> carried;
    const auto carry = [&]() -> CarriedNode& {
      if (!carried) carried.emplace(node, inputs, outputs, interpretation_, options_);
      return *carried;
    };
    conformance::NodeBlame shown{"", &node, {}, ""};
    shown.judgement.outputs.resize(node.outputs.size());
    bool any = false;
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
      if (node.outputs[k].empty()) continue;
      if (is_hidden(k)) {
        between_[node.outputs[k]] = carry().output(k);
        outputs[k] = between_[node.outputs[k]].ours;  // so that all are judged together
        continue;
      }
      if (all_seen) {
        any = true;
        continue;
      }
      const judge::Comparison one = carry().judge(k);
      shown.judgement.verdict =
          any ? judge::worse(shown.judgement.verdict, one.verdict) : one.verdict;
      shown.judgement.outputs[k] = one;
      any = true;
    }
    if (!any) return;
    if (all_seen) {
      std::vector<Value> seen;
      for (const Carried& input : inputs) seen.push_back(input.ours);
      shown.judgement = judge::judge_node(node, seen, outputs, options_);
    }
    add(std::move(shown));
  }

  RegionJudgement take() { return std::move(found_); }

 private:
  Carried value(const std::string& name) const {
    if (name.empty()) return {};
    if (const auto at = values_.find(name); at != values_.end()) return {at->second, {}};
    if (const auto at = between_.find(name); at != between_.end()) return at->second;
    if (const auto at = graph_.initializers.find(name); at != graph_.initializers.end())
      return {at->second, {}};
    if (const auto at = graph_.sparse_initializers.find(name);
        at != graph_.sparse_initializers.end())
      return {at->second, {}};
    throw Error(ErrorKind::unsupported, "there is no value of '" + name + "'");
  }

  void add(conformance::NodeBlame shown) {
    const judge::Verdict verdict = shown.judgement.verdict;
    if (verdict == judge::Verdict::open && found_.detail.empty()) {
      found_.detail = "the bound of these nodes together says nothing any more";
    }
    found_.verdict = found_.shown.empty() ? verdict : judge::worse(found_.verdict, verdict);
    found_.shown.push_back(std::move(shown));
  }

  const Graph& graph_;
  const std::map<std::string, Value>& values_;
  const judge::JudgeOptions& options_;
  Interpretation interpretation_;
  std::map<std::string, Carried> between_;
  RegionJudgement found_;
};

// Those of the nodes whose results were seen, and those that they depend on.
std::set<Index> with_seen_results(const Model& model, const std::set<Index>& nodes,
                                  const std::map<std::string, Value>& values) {
  std::set<Index> found;
  std::set<std::string> read;
  for (auto node = model.graph.nodes.rbegin(); node != model.graph.nodes.rend(); ++node) {
    if (!nodes.contains(node->index)) continue;
    const bool counts = std::any_of(
        node->outputs.begin(), node->outputs.end(),
        [&](const std::string& name) { return values.contains(name) || read.contains(name); });
    if (!counts) continue;
    found.insert(node->index);
    for (const std::string& name : names_used(*node)) {
      if (!name.empty()) read.insert(name);
    }
  }
  return found;
}

RegionJudgement judge_as(const Model& model, const std::set<Index>& nodes,
                         const std::map<std::string, Value>& values,
                         const judge::JudgeOptions& options, const Interpretation& interpretation) {
  Walk walk(model, values, options, interpretation);
  std::string problem;  // the first one; nodes that do not depend on its node are judged
  const std::set<Index> judged = with_seen_results(model, nodes, values);
  for (const Node& node : model.graph.nodes) {
    if (!judged.contains(node.index)) continue;
    try {
      walk.visit(node);
    } catch (const Error& error) {
      if (problem.empty()) problem = error.message;
    }
  }
  RegionJudgement found = walk.take();
  if (!problem.empty() && !judge::is_fail(found.verdict)) {
    found.verdict = judge::Verdict::open;
    found.detail = "these nodes cannot be judged together: " + problem;
  }
  return found;
}

// Values that these nodes both make and use.
std::set<std::string> inner_values(const Model& model, const std::set<Index>& nodes) {
  std::set<std::string> made, inner;
  for (const Node& node : model.graph.nodes) {
    if (nodes.contains(node.index)) made.insert(node.outputs.begin(), node.outputs.end());
  }
  for (const Node& node : model.graph.nodes) {
    if (!nodes.contains(node.index)) continue;
    for (const std::string& name : names_used(node)) {
      if (!name.empty() && made.contains(name)) inner.insert(name);
    }
  }
  return inner;
}

}  // namespace

std::set<Index> region_around(const Model& model, const std::set<std::string>& hidden) {
  std::set<Index> nodes;
  const auto touches = [&](const std::vector<std::string>& names) {
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return hidden.contains(name); });
  };
  for (const Node& node : model.graph.nodes) {
    if (touches(node.outputs) || touches(names_used(node))) nodes.insert(node.index);
  }
  return nodes;
}

RegionJudgement judge_region(const Model& model, const std::set<Index>& nodes,
                             const std::map<std::string, Value>& values,
                             const judge::JudgeOptions& options) {
  if (!options.then_fast) return judge_as(model, nodes, values, options, {options.cls, false});
  RegionJudgement found = judge_as(model, nodes, values, options, {Class::fast, false});
  if (!judge::is_fail(found.verdict)) return found;
  const RegionJudgement flushed = judge_as(model, nodes, values, options, {Class::fast, true});
  return judge::is_fail(flushed.verdict) ? found : flushed;
}

RegionJudgement judge_around(const Model& model, const std::set<std::string>& hidden,
                             const std::map<std::string, Value>& values,
                             const judge::JudgeOptions& options) {
  const std::set<Index> nodes = region_around(model, hidden);
  RegionJudgement found = judge_region(model, nodes, values, options);
  if (!judge::is_fail(found.verdict)) return found;
  const std::set<std::string> inner = inner_values(model, nodes);
  const bool inner_fails =
      std::any_of(found.shown.begin(), found.shown.end(), [&](const conformance::NodeBlame& shown) {
        return judge::is_fail(shown.judgement.verdict) &&
               std::any_of(shown.node->outputs.begin(), shown.node->outputs.end(),
                           [&](const std::string& name) { return inner.contains(name); });
      });
  std::map<std::string, Value> outer = values;
  std::erase_if(outer, [&](const auto& value) { return inner.contains(value.first); });
  if (inner_fails || outer.size() == values.size()) return found;
  RegionJudgement whole = judge_region(model, nodes, outer, options);
  return judge::is_fail(whole.verdict) ? found : whole;
}

}  // namespace touchstone::compare
