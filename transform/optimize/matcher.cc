// Matches patterns by backtracking over the order of a node's inputs, alternatives, and the nodes
// that compute inputs. Each failed choice is undone before the next.
#include "transform/optimize/matcher.h"

#include <algorithm>

#include "core/budget_watch.h"
#include "core/error.h"
#include "transform/optimize/pattern_rewriter.h"

namespace touchstone::transform {

namespace {

// Continuation: the rest of the match. References a callable without owning it.
class Next {
 public:
  template <class F>
  Next(const F& f)  // NOLINT: meant to convert
      : self_(&f), call_([](const void* self) { return (*static_cast<const F*>(self))(); }) {}
  bool operator()() const {
    return call_(self_);
  }  // true: the match is complete and the search ends

 private:
  const void* self_;
  bool (*call_)(const void* self);
};

class Matcher {
 public:
  Matcher(const Pattern& pattern, std::span<const MatchNode> nodes, MutableGraph& graph)
      : pattern_(pattern), nodes_(nodes), graph_(graph), found_(pattern, graph) {}

  std::optional<PatternMatch> from(MutableGraph::Place root) {
    found_.root = root;
    const auto whole = [&] { return bounded(found_) && conditions_hold(found_); };
    if (!match_node(nodes_.size() - 1, root, whole)) return std::nullopt;
    return std::move(found_);
  }

  static bool fits(const MatchNode& wanted, const Node& node) {
    if (node.signature == nullptr || node.op != wanted.op || node.domain != wanted.domain)
      return false;
    if (node.inputs.size() > wanted.inputs.size()) return false;
    return std::find(wanted.versions.begin(), wanted.versions.end(), node.signature->since) !=
           wanted.versions.end();
  }

 private:
  // Undoes the slots bound since its construction, unless the match is complete.
  class Attempt {
   public:
    explicit Attempt(Matcher& matcher)
        : matcher_(matcher), bound_(matcher.bound_.size()), made_(matcher.made_.size()) {}
    bool holds(bool whole) {
      whole_ = whole;
      return whole;
    }
    ~Attempt() {
      if (whole_) return;
      for (; matcher_.bound_.size() > bound_; matcher_.bound_.pop_back()) {
        matcher_.found_.bound[matcher_.bound_.back()] = false;
        matcher_.found_.values[matcher_.bound_.back()].clear();
      }
      for (; matcher_.made_.size() > made_; matcher_.made_.pop_back())
        matcher_.found_.made[matcher_.made_.back()].reset();
    }

   private:
    Matcher& matcher_;
    const std::size_t bound_, made_;
    bool whole_ = false;
  };

  bool match_node(std::size_t k, MutableGraph::Place place, const Next& next) {
    const MatchNode& wanted = nodes_[k];
    if (!fits(wanted, *place)) return false;
    Attempt attempt(*this);
    for (std::size_t o = 0; o < place->outputs.size(); ++o) {
      const std::string& output = place->outputs[o];
      const int slot = o < wanted.outputs.size() ? wanted.outputs[o] : -1;
      if (slot < 0) {
        // A named output may select the meaning (BatchNormalization-7 trains), read or not.
        const bool selects = place->signature->all_outputs;
        if (!output.empty() && (selects || graph_.uses(output) > 0)) return false;
        continue;
      }
      if (output.empty() || !bind(slot, output)) return false;
      found_.made[static_cast<std::size_t>(slot)] = place;
      made_.push_back(static_cast<std::size_t>(slot));
    }
    if (attempt.holds(match_input(wanted, *place, false, 0, next))) return true;
    if (!wanted.either_order || wanted.inputs.size() < 2) return false;
    return attempt.holds(match_input(wanted, *place, true, 0, next));
  }

  // `swapped`: the node's first two inputs match the pattern's second and first.
  bool match_input(const MatchNode& wanted, const Node& node, bool swapped, std::size_t i,
                   const Next& next) {
    static const std::string nothing;
    if (i == wanted.inputs.size()) return next();
    const MatchInput& input = wanted.inputs[i];
    const std::size_t at = swapped && i < 2 ? 1 - i : i;
    const std::string& value = at < node.inputs.size() ? node.inputs[at] : nothing;
    const auto rest = [&] { return match_input(wanted, node, swapped, i + 1, next); };
    Attempt attempt(*this);
    if (value.empty()) {
      if (!input.optional || (input.slot >= 0 && !bind(input.slot, ""))) return false;
      return attempt.holds(rest());
    }
    if (input.kind != MatchInput::Kind::value) {
      const Tensor* constant = graph_.constant(value);
      if (constant == nullptr) return false;
      if (input.kind == MatchInput::Kind::number)
        return constant->size() == 1 && holds(*constant, 0, input.number) && attempt.holds(rest());
    }
    if (!bind(input.slot, value)) return false;
    const std::optional<std::size_t> made_by = maker_in_pattern(input.slot);
    if (!made_by || found_.made[static_cast<std::size_t>(input.slot)]) return attempt.holds(rest());
    const std::optional<MutableGraph::Place> maker = graph_.maker(value);
    return maker && attempt.holds(match_node(*made_by, *maker, rest));
  }

  std::optional<std::size_t> maker_in_pattern(int slot) const {
    for (std::size_t k = 0; k < nodes_.size(); ++k) {
      const auto outputs = nodes_[k].outputs;
      if (std::find(outputs.begin(), outputs.end(), slot) != outputs.end()) return k;
    }
    return std::nullopt;
  }

  bool bind(int slot, const std::string& value) {
    const auto at = static_cast<std::size_t>(slot);
    if (found_.bound[at]) return found_.values[at] == value;
    found_.bound[at] = true;
    found_.values[at] = value;
    bound_.push_back(at);
    return true;
  }

  // A number in a pattern is a scalar. A constant of higher rank must not change the root's shape,
  // so its rank may not exceed that of the values that the match reads.
  bool bounded(const PatternMatch& found) const {
    Index most = 0;
    for (std::size_t k = 0; k < nodes_.size(); ++k) {
      for (const MatchInput& input : nodes_[k].inputs) {
        if (input.kind == MatchInput::Kind::number) most = std::max(most, rank_of_number(k, found));
      }
    }
    if (most == 0) return true;
    try {
      for (int slot = 0; slot < static_cast<int>(pattern_.slots.size()); ++slot) {
        const auto at = static_cast<std::size_t>(slot);
        if (!found.bound[at] || found.made[at] || found.values[at].empty()) continue;
        if (found.rank({slot}) < most) return false;
      }
    } catch (const NotKnown&) {
      return false;
    }
    return true;
  }

  // Returns the largest rank of the one-element constants that this node of the pattern reads.
  Index rank_of_number(std::size_t k, const PatternMatch& found) const {
    const std::optional<MutableGraph::Place> place =
        found.made[static_cast<std::size_t>(nodes_[k].outputs[0])];
    Index most = 0;
    for (const std::string& input : (*place)->inputs) {
      const Tensor* constant = graph_.constant(input);
      if (constant != nullptr && constant->size() == 1)
        most = std::max(most, constant->shape().size());
    }
    return most;
  }

  bool conditions_hold(const PatternMatch& found) const {
    const Index opset = found.opset();
    if (pattern_.replace != nullptr && (opset < pattern_.min_opset || opset > pattern_.max_opset))
      return false;
    if (pattern_.when == nullptr) return true;
    try {
      return pattern_.when(found);
    } catch (const NotKnown&) {
      return false;
    } catch (const Error& error) {  // a list is shorter than the condition assumes
      if (error.kind == ErrorKind::invalid_input) return false;
      throw;
    }
  }

  const Pattern& pattern_;
  std::span<const MatchNode> nodes_;
  MutableGraph& graph_;
  PatternMatch found_;
  std::vector<std::size_t> bound_, made_;  // slots, in the order in which they were bound
};

// Returns false if the replacement needs a fact that is not known, or a computation that no kernel
// supports.
bool replace(const Pattern& pattern, const PatternMatch& found) {
  try {
    PatternRewriter rewrite(found);
    pattern.replace(rewrite);
    return rewrite.commit();
  } catch (const NotKnown&) {
    return false;
  } catch (const Error& error) {
    if (error.kind == ErrorKind::internal) throw;
    check_budget();
    return false;
  }
}

}  // namespace

std::optional<PatternMatch> find_match(const Pattern& pattern, MutableGraph& graph,
                                       MutableGraph::Place root) {
  for (const std::span<const MatchNode> nodes : pattern.alternatives) {
    if (!Matcher::fits(nodes.back(), *root)) continue;
    if (std::optional<PatternMatch> found = Matcher(pattern, nodes, graph).from(root)) return found;
  }
  return std::nullopt;
}

Index apply_pattern(const Pattern& pattern, MutableGraph& graph) {
  Index changes = 0;
  BudgetWatch watch;
  for (auto place = graph.nodes().begin(); place != graph.nodes().end(); watch.step()) {
    const auto next = std::next(place);  // a replacement erases the root but no node after it
    const std::optional<PatternMatch> found = find_match(pattern, graph, place);
    if (found && replace(pattern, *found)) {
      graph.assume(found->assumed);
      ++changes;
    }
    place = next;
  }
  return changes;
}

}  // namespace touchstone::transform
