// Decision trees in flat arrays, read once from a node's attributes. Ensembles that break a rule,
// or run in a circle, are not read: the reference refuses them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/budget.h"
#include "reference/trees.h"

namespace touchstone {

// A comparison of one feature. A child is a branch, or ~k for leaf k.
template <class K>
struct FlatBranch {
  K split;
  std::int32_t feature, yes, no;
  std::int32_t members, members_end;  // in FlatForest::members, sorted
  Asks asks;
  bool nan_is_true;

  bool holds(K x, const K* sets) const {
    if (x != x) return nan_is_true;
    switch (asks) {
      case Asks::at_most:
        return x <= split;
      case Asks::less:
        return x < split;
      case Asks::at_least:
        return x >= split;
      case Asks::more:
        return x > split;
      case Asks::equal:
        return x == split;
      case Asks::other:
        return x != split;
      default:
        return std::binary_search(sets + members, sets + members_end, x);
    }
  }
};

template <class K>
struct FlatForest {
  std::vector<FlatBranch<K>> branches;
  std::vector<K> members;
  bool plain = true;  // every branch asks at_most, and NaN is false
  // Node of a plain forest: branches come first, then leaves, each its own child.
  struct Plain {
    K split;
    std::int32_t feature, children[2];
  };
  std::vector<Plain> nodes;

  std::int32_t leaf(std::int32_t at, const K* row) const {
    while (at >= 0) {
      const FlatBranch<K>& branch = branches[static_cast<std::size_t>(at)];
      at = branch.holds(row[branch.feature], members.data()) ? branch.yes : branch.no;
    }
    return ~at;
  }

  // Finds the leaves of several rows of a plain forest. They advance together, without branches
  // that a processor would have to predict.
  static constexpr int together = 8;
  void leaves(std::int32_t root, const K* rows, Index stride, std::int32_t* found) const {
    const auto first_leaf = static_cast<std::int32_t>(branches.size());
    std::int32_t at[together];
    for (int n = 0; n < together; ++n) at[n] = root < 0 ? first_leaf + ~root : root;
    for (bool all = root < 0; !all;) {
      for (int step = 0; step < 3; ++step) {
#pragma GCC unroll 8
        for (int n = 0; n < together; ++n) {
          const Plain& node = nodes[static_cast<std::size_t>(at[n])];
          at[n] = node.children[rows[n * stride + node.feature] <= node.split ? 1 : 0];
        }
      }
      all = true;
      for (int n = 0; n < together; ++n) all = all && at[n] >= first_leaf;
    }
    for (int n = 0; n < together; ++n) found[n] = at[n] - first_leaf;
  }
};

// An ensemble of any version: its trees and the votes of their leaves.
struct ForestFacts {
  struct Vote {
    std::int32_t target;
    double weight;
  };
  Forest forest;                       // as the reference reads it
  std::vector<std::int32_t> votes_of;  // leaf k has votes [votes_of[k], votes_of[k + 1])
  std::vector<Vote> votes;
  std::vector<double> bases;
  bool singles = true;                 // splits and members are float32 numbers
  bool lone = false, probable = true;  // as the classifier's definition calls them
  Index targets = 0, features = 0;     // features: as many as the branches ask for
  Index depth = 0;                     // the most branches on a path
  Aggregate aggregate = Aggregate::sum;
  Transform transform = Transform::none;
  Labels labels;
  bool classifies = false;
  Charge charge;  // of what lasts

  template <class K>
  FlatForest<K> flat() const;
};

// Returns nothing for an ensemble that is left to the reference.
std::optional<ForestFacts> forest_of(const Facts& facts);

template <class K>
FlatForest<K> ForestFacts::flat() const {
  FlatForest<K> made;
  for (const Branch& branch : forest.branches) {
    const auto first = static_cast<std::int32_t>(made.members.size());
    for (const long double member : branch.members) made.members.push_back(static_cast<K>(member));
    std::sort(made.members.begin() + first, made.members.end());
    made.plain = made.plain && branch.asks == Asks::at_most && !branch.nan_is_true;
    made.branches.push_back(
        {static_cast<K>(branch.split), static_cast<std::int32_t>(branch.feature),
         static_cast<std::int32_t>(branch.yes), static_cast<std::int32_t>(branch.no), first,
         static_cast<std::int32_t>(made.members.size()), branch.asks, branch.nan_is_true});
  }
  if (!made.plain) return made;
  const auto many = static_cast<std::int32_t>(made.branches.size());
  const auto place = [&](std::int32_t child) { return child < 0 ? many + ~child : child; };
  for (const FlatBranch<K>& branch : made.branches)
    made.nodes.push_back({branch.split, branch.feature, {place(branch.no), place(branch.yes)}});
  for (std::size_t k = 0; k + 1 < votes_of.size(); ++k) {
    const std::int32_t own = many + static_cast<std::int32_t>(k);
    made.nodes.push_back({K(0), 0, {own, own}});
  }
  return made;
}

}  // namespace touchstone
