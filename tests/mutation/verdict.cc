// Runs mutants and compares how they end.
#include "tests/mutation/verdict.h"

#include <algorithm>
#include <cstring>

#include "conformance/blame.h"
#include "conformance/compare/rewrite.h"
#include "conformance/single_node.h"
#include "model/model.h"
#include "model/scopes.h"
#include "optimized/session.h"
#include "reference/interpreter.h"

namespace touchstone::mutation {
namespace {

using Values = std::map<std::string, Value>;

// True if all bytes are equal, apart from the payloads of NaN.
bool is_same(const Values& a, const Values& b) {
  if (a.size() != b.size()) return false;
  return std::all_of(a.begin(), a.end(), [&](const auto& held) {
    const auto other = b.find(held.first);
    if (other == b.end() || held.second.absent() != other->second.absent()) return false;
    return held.second.absent() ||
           !judge::is_fail(
               judge::judge_exact(held.second, other->second, judge::ZeroSign::compared).verdict);
  });
}

// Judges each node on the inputs that the runtime itself gave it, and returns the first node that
// the judge refuses. Returns "" if exposing all values changes the model's outputs.
std::string blame_of(const Runtime& runtime, const Model& given, const Values& feeds,
                     const Values& outputs, std::map<std::string, Index>& counts) {
  Model model = given;
  require_valid(model, limits());
  const std::vector<std::string> hidden = compare::hidden_values(model);
  const Model tapped = compare::with_taps(model, hidden, compare::types_of_values(model));
  const End seen = end_of(runtime, tapped, feeds);
  Values own = seen.outputs;
  for (const std::string& name : hidden) own.erase(name);
  if (seen.refused || !is_same(own, outputs)) {
    ++counts["other outputs with every value shown"];
    return "";
  }
  std::set<std::string> asked;
  for (const ValueInfo& output : tapped.graph.outputs) asked.insert(output.name);
  const conformance::Blame all =
      conformance::blame(conformance::nodes_seen(model, feeds, seen.outputs, asked), {});
  if (!all.guilty) {
    ++counts["outputs that the judge lets pass"];
    return "";
  }
  const conformance::NodeBlame& guilty = all.nodes[*all.guilty];
  return guilty.node->op + ": " + conformance::describe(*guilty.node, guilty.judgement);
}

bool is_limit(const End& end) {
  return end.refused == ErrorKind::limit || end.refused == ErrorKind::out_of_memory;
}

bool is_invalid(const End& end) {
  return end.refused == ErrorKind::invalid_model || end.refused == ErrorKind::invalid_input;
}

// Two violations in one model, one known from shapes and one from values, may be reported in either
// order. Both mean that the model is invalid.
bool are_alike(const End& a, const End& b) {
  return a.refused == b.refused || (is_invalid(a) && is_invalid(b));
}

Model without_unused_nodes(Model model) {
  std::set<std::string> used;
  for (const ValueInfo& output : model.graph.outputs) used.insert(output.name);
  std::vector<Node> kept;
  std::vector<Node>& nodes = model.graph.nodes;
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    const bool is_used = std::any_of(node->outputs.begin(), node->outputs.end(),
                                     [&](const std::string& name) { return used.contains(name); });
    if (!is_used) continue;
    for (std::string& name : names_used(*node)) used.insert(std::move(name));
    kept.push_back(std::move(*node));
  }
  nodes.assign(std::move_iterator(kept.rbegin()), std::move_iterator(kept.rend()));
  return model;
}

}  // namespace

Values run_reference(const Model& given, const Values& feeds) {
  Model model = given;
  require_valid(model, limits());
  return run(model, feeds, RunOptions{limits(), {}});
}

Values run_fast(const Model& given, const Values& feeds) {
  Model model = given;
  require_valid(model, limits());
  optimized::SessionOptions options;
  options.threads = 2;
  options.limits = limits();
  return optimized::Session(std::move(model), options).run(feeds);
}

End end_of(const Runtime& runtime, const Model& model, const Values& feeds) {
  const LimitsScope scope(limits());
  End end;
  try {
    end.outputs = runtime(model, feeds);
  } catch (const Error& error) {
    end.refused = error.kind;
    end.message = error.place + ": " + error.message;
  } catch (const std::exception& error) {
    end.refused = ErrorKind::internal;
    end.message = std::string("an exception that is no Error: ") + error.what();
  }
  return end;
}

std::string name_of(const End& end) {
  if (!end.refused) return "ran";
  return std::string(name(*end.refused));
}

std::string wrong_about(const Subject& subject, Random& random,
                        std::map<std::string, Index>& counts, const Runtime& reference,
                        const Runtime& fast) {
  const Model plain = without_shapes(subject.model);
  const Model twin = twin_of(subject, random);
  struct Tried {
    const char* name;
    const Runtime& runtime;
    const Model& model;
    End end;
  };
  std::vector<Tried> all;
  for (const auto& [name, runtime] :
       {std::pair<const char*, const Runtime&>{"reference", reference}, {"fast", fast}}) {
    all.push_back({name, runtime, plain, end_of(runtime, plain, subject.feeds)});
    all.push_back({name, runtime, twin, end_of(runtime, twin, subject.feeds)});
  }
  const Tried& first = all.front();
  ++counts[name_of(first.end)];
  std::optional<End> lean;  // the reference without dead nodes
  for (std::size_t k = 0; k < all.size(); ++k) {
    const Tried& one = all[k];
    const std::string who = std::string(one.name) + (k % 2 == 0 ? "" : ", with declared shapes");
    if (one.end.refused == ErrorKind::internal) return who + ": internal: " + one.end.message;
    const End* expected = &first.end;
    if (k >= 2 && is_invalid(first.end) && !one.end.refused) {
      // A plan drops dead nodes, and with them their violations.
      if (!lean) lean = end_of(reference, without_unused_nodes(plain), subject.feeds);
      expected = &*lean;
    }
    if (!are_alike(one.end, *expected)) {
      // A plan needs other memory than the reference, and folds constants before it runs.
      if (k >= 2 && (is_limit(one.end) || is_limit(first.end)) && are_alike(one.end, all[2].end)) {
        ++counts["a limit met on one runtime"];
        continue;
      }
      return who + ": " + name_of(one.end) + " (" + one.end.message +
             "), but reference: " + name_of(first.end) + " (" + first.end.message + ")";
    }
    if (one.end.refused || is_same(expected->outputs, one.end.outputs)) continue;
    // Random outputs differ between runs.
    const End again = end_of(first.runtime, first.model, subject.feeds);
    if (again.refused || !is_same(first.end.outputs, again.outputs)) {
      ++counts["outputs that no two runs share"];
      continue;
    }
    if (k < 2) return who + ": other outputs than without declared shapes";
    const std::string guilty =
        blame_of(one.runtime, one.model, subject.feeds, one.end.outputs, counts);
    if (!guilty.empty()) return who + ": " + guilty;
  }
  return "";
}

}  // namespace touchstone::mutation
