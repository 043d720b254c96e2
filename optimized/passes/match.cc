// A search with backtracking: an input of a node in either order, an alternative, a node that makes
// another's input. Patterns are small, so a match is copied where there is a choice.
#include "optimized/passes/match.h"

#include <algorithm>
#include <functional>

#include "core/error.h"
#include "optimized/passes/rewrite.h"

namespace touchstone {

namespace {

class Matcher {
 public:
  Matcher(const Pattern& pattern, std::span<const MatchNode> nodes, Workbench& bench)
      : pattern_(pattern), nodes_(nodes), bench_(bench) {}

  std::optional<Found> from(Workbench::Place root) {
    Found found(pattern_, bench_);
    found.root = root;
    std::optional<Found> result;
    match_node(nodes_.size() - 1, root, found, [&](Found& whole) {
      if (!bounded(whole) || !conditions_hold(whole)) return false;
      result.emplace(whole);
      return true;
    });
    return result;
  }

 private:
  using Next = std::function<bool(Found&)>;  // true: the match is whole, nothing else is tried

  bool fits(const MatchNode& wanted, const Node& node) const {
    if (node.signature == nullptr || node.op != wanted.op || node.domain != wanted.domain)
      return false;
    if (node.inputs.size() > wanted.inputs.size()) return false;
    return std::find(wanted.versions.begin(), wanted.versions.end(), node.signature->since) !=
           wanted.versions.end();
  }

  bool match_node(std::size_t k, Workbench::Place place, const Found& found, const Next& next) {
    const MatchNode& wanted = nodes_[k];
    if (!fits(wanted, *place)) return false;
    Found here = found;
    for (std::size_t o = 0; o < place->outputs.size(); ++o) {
      const std::string& output = place->outputs[o];
      const int slot = o < wanted.outputs.size() ? wanted.outputs[o] : -1;
      if (slot < 0) {
        if (!output.empty() && bench_.uses(output) > 0) return false;
        continue;
      }
      if (output.empty() || !bind(here, slot, output)) return false;
      here.made[static_cast<std::size_t>(slot)] = place;
    }
    std::vector<std::size_t> order(wanted.inputs.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    if (match_input(wanted, *place, order, 0, here, next)) return true;
    if (!wanted.either_order || order.size() < 2) return false;
    std::swap(order[0], order[1]);
    return match_input(wanted, *place, order, 0, here, next);
  }

  // `order[i]`: the input of the node that is the pattern's input i.
  bool match_input(const MatchNode& wanted, const Node& node, const std::vector<std::size_t>& order,
                   std::size_t i, const Found& found, const Next& next) {
    if (i == wanted.inputs.size()) {
      Found here = found;
      return next(here);
    }
    const MatchInput& input = wanted.inputs[i];
    const std::string value = order[i] < node.inputs.size() ? node.inputs[order[i]] : "";
    const Next rest = [&](Found& here) {
      return match_input(wanted, node, order, i + 1, here, next);
    };
    Found here = found;
    if (value.empty()) {
      if (!input.optional || (input.slot >= 0 && !bind(here, input.slot, ""))) return false;
      return rest(here);
    }
    if (input.kind != MatchInput::Kind::value) {
      const Tensor* constant = bench_.constant(value);
      if (constant == nullptr) return false;
      if (input.kind == MatchInput::Kind::number)
        return constant->size() == 1 && holds(*constant, 0, input.number) && rest(here);
    }
    if (!bind(here, input.slot, value)) return false;
    const std::optional<std::size_t> made_by = maker_in_pattern(input.slot);
    if (!made_by || here.made[static_cast<std::size_t>(input.slot)]) return rest(here);
    const std::optional<Workbench::Place> maker = bench_.maker(value);
    return maker && match_node(*made_by, *maker, here, rest);
  }

  std::optional<std::size_t> maker_in_pattern(int slot) const {
    for (std::size_t k = 0; k < nodes_.size(); ++k) {
      const auto outputs = nodes_[k].outputs;
      if (std::find(outputs.begin(), outputs.end(), slot) != outputs.end()) return k;
    }
    return std::nullopt;
  }

  static bool bind(Found& found, int slot, const std::string& value) {
    const auto at = static_cast<std::size_t>(slot);
    if (found.bound[at]) return found.values[at] == value;
    found.bound[at] = true;
    found.values[at] = value;
    return true;
  }

  // A number in a pattern has no dimensions. One of more must not make the root's shape another one
  // than the pattern means, so it has no more than what the match reads.
  bool bounded(const Found& found) const {
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

  // The largest rank of the numbers that the node of this place in the pattern reads.
  Index rank_of_number(std::size_t k, const Found& found) const {
    const std::optional<Workbench::Place> place =
        found.made[static_cast<std::size_t>(nodes_[k].outputs[0])];
    Index most = 0;
    for (const std::string& input : (*place)->inputs) {
      const Tensor* constant = bench_.constant(input);
      if (constant != nullptr && constant->size() == 1)
        most = std::max(most, constant->shape().size());
    }
    return most;
  }

  bool conditions_hold(const Found& found) const {
    const Index opset = found.opset();
    if (pattern_.replace != nullptr &&
        (opset < pattern_.least_opset || opset > pattern_.most_opset))
      return false;
    if (pattern_.when == nullptr) return true;
    try {
      return pattern_.when(found);
    } catch (const NotKnown&) {
      return false;
    } catch (const Error& error) {  // a list is shorter than the condition takes it to be
      if (error.kind == ErrorKind::invalid_input) return false;
      throw;
    }
  }

  const Pattern& pattern_;
  std::span<const MatchNode> nodes_;
  Workbench& bench_;
};

// False where the replacement asks for something that is not known, or that no kernel computes.
bool replace(const Pattern& pattern, const Found& found) {
  try {
    Rewrite rewrite(found);
    pattern.replace(rewrite);
    return rewrite.commit();
  } catch (const NotKnown&) {
    return false;
  } catch (const Error& error) {
    if (error.kind == ErrorKind::internal) throw;
    return false;
  }
}

}  // namespace

std::optional<Found> find_match(const Pattern& pattern, Workbench& bench, Workbench::Place root) {
  for (const std::span<const MatchNode> nodes : pattern.alternatives) {
    if (root->op != nodes.back().op || root->domain != nodes.back().domain) continue;
    if (std::optional<Found> found = Matcher(pattern, nodes, bench).from(root)) return found;
  }
  return std::nullopt;
}

Index apply_pattern(const Pattern& pattern, Workbench& bench) {
  Index changes = 0;
  for (auto place = bench.nodes().begin(); place != bench.nodes().end();) {
    const auto next = std::next(place);  // a replacement ends the root and no node behind it
    const std::optional<Found> found = find_match(pattern, bench, place);
    if (found && replace(pattern, *found)) ++changes;
    place = next;
  }
  return changes;
}

}  // namespace touchstone
