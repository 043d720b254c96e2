// Judges tapped nodes one by one, and finds nodes by the path of a tap.
#include "conformance/blame.h"

#include <algorithm>
#include <charconv>

#include "conformance/single_node.h"
#include "core/error.h"

namespace touchstone::conformance {
namespace {

NodeBlame blame_one(const TappedNode& tap, const judge::JudgeOptions& options) {
  NodeBlame found{tap.path, tap.node, {}, why_not_judged(*tap.node)};
  if (!found.skipped.empty()) return found;
  try {
    found.judgement = judge::judge_node(*tap.node, tap.inputs(), tap.outputs(), options);
  } catch (const Error& error) {
    found.skipped = error.message;  // its values cannot be read
  }
  return found;
}

const Graph* body_of(const Node& node, std::string_view attribute) {
  const auto found = node.attributes.find(std::string(attribute));
  if (found == node.attributes.end()) return nullptr;
  const auto* body = std::get_if<std::shared_ptr<const Graph>>(&found->second.is);
  return body ? body->get() : nullptr;
}

// Returns the number after the last '_' of "Loop_3"; -1 if there is none.
Index position_in(std::string_view segment) {
  const std::size_t mark = segment.rfind('_');
  Index position = -1;
  if (mark == std::string_view::npos) return -1;
  const char* const end = segment.data() + segment.size();
  const auto [stop, failed] = std::from_chars(segment.data() + mark + 1, end, position);
  return failed == std::errc() && stop == end ? position : -1;
}

}  // namespace

const std::vector<Node>* nodes_at(const Model& model, const std::string& path) {
  const std::vector<Node>* nodes = &model.graph.nodes;
  std::string_view rest = path;
  const auto next_segment = [&] {
    const std::string_view segment = rest.substr(0, rest.find('/'));
    rest.remove_prefix(std::min(rest.size(), segment.size() + 1));
    return segment;
  };
  while (!rest.empty()) {
    const Index position = position_in(next_segment());
    if (position < 0 || position >= static_cast<Index>(nodes->size())) return nullptr;
    const Node& holder = (*nodes)[static_cast<std::size_t>(position)];
    if (holder.function) {
      nodes = &holder.function->nodes;
      continue;
    }
    if (rest.empty()) return nullptr;
    const std::string_view segment = next_segment();  // "body#2": an attribute and an iteration
    const Graph* body = body_of(holder, segment.substr(0, segment.find('#')));
    if (!body) return nullptr;
    nodes = &body->nodes;
  }
  return nodes;
}

Blame blame(const std::vector<TappedNode>& taps, const judge::JudgeOptions& options,
            const OnNode& on_node, const FoundBefore& found_before) {
  Blame all;
  std::vector<double> resolutions;
  bool any = false;
  for (std::size_t k = 0; k < taps.size(); ++k) {
    const NodeBlame* const before = found_before ? found_before(k) : nullptr;
    NodeBlame found = before ? *before : blame_one(taps[k], options);
    if (found.skipped.empty()) {
      all.verdict =
          any ? judge::worse(all.verdict, found.judgement.verdict) : found.judgement.verdict;
      any = true;
      if (judge::is_fail(found.judgement.verdict) && !all.guilty) all.guilty = all.nodes.size();
      for (const judge::Comparison& one : found.judgement.outputs) {
        all.elements += one.judged + one.open;
        all.judged += one.judged;
        if (one.resolution_median > 0) resolutions.push_back(one.resolution_median);
      }
    }
    if (on_node) on_node(found);
    all.nodes.push_back(std::move(found));
  }
  if (!resolutions.empty()) {
    const auto middle = resolutions.begin() + static_cast<std::ptrdiff_t>(resolutions.size() / 2);
    std::nth_element(resolutions.begin(), middle, resolutions.end());
    all.resolution_median = *middle;
  }
  return all;
}

std::vector<TappedNode> nodes_seen(const Model& model, const std::map<std::string, Value>& feeds,
                                   const std::map<std::string, Value>& seen,
                                   const std::set<std::string>& asked) {
  const auto find = [&model, &feeds, &seen](const std::string& name) -> Value {
    const Graph& graph = model.graph;
    if (const auto at = feeds.find(name); at != feeds.end()) return at->second;
    if (const auto at = seen.find(name); at != seen.end()) return at->second;
    if (const auto at = graph.initializers.find(name); at != graph.initializers.end())
      return at->second;
    if (const auto at = graph.sparse_initializers.find(name); at != graph.sparse_initializers.end())
      return at->second;
    return {};
  };
  const auto all = [find](const std::vector<std::string>& names,
                          const std::set<std::string>& may_lack) {
    std::vector<Value> values;
    for (const std::string& name : names) {
      values.push_back(name.empty() ? Value{} : find(name));
      if (!name.empty() && values.back().absent() && !may_lack.contains(name))
        throw Error(ErrorKind::file, "of '" + name + "' no value is shown");
    }
    return values;
  };
  std::vector<TappedNode> nodes;
  for (const Node& node : model.graph.nodes) {
    nodes.push_back({"", &node, [all, &node] { return all(node.inputs, {}); },
                     [all, &node, &asked] { return all(node.outputs, asked); }});
  }
  return nodes;
}

}  // namespace touchstone::conformance
