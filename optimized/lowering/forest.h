// Decision trees in flat arrays, read once from a node's attributes. Ensembles that break a rule,
// or run in a circle, are not read: the reference refuses them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/budget.h"
#include "optimized/lowering/descent.h"
#include "reference/trees.h"

namespace touchstone::optimized {

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
  std::vector<std::int32_t> roots;
  std::optional<Descent<K>> descent;  // if the forest allows it

  std::int32_t leaf(std::int32_t at, const K* row) const {
    while (at >= 0) {
      const FlatBranch<K>& branch = branches[static_cast<std::size_t>(at)];
      at = branch.holds(row[branch.feature], members.data()) ? branch.yes : branch.no;
    }
    return ~at;
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
  // Returns the weights of each leaf for each target, 0 without a vote; nothing if votes are few.
  template <class S>
  std::vector<S> weights() const;
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
    made.branches.push_back(
        {static_cast<K>(branch.split), static_cast<std::int32_t>(branch.feature),
         static_cast<std::int32_t>(branch.yes), static_cast<std::int32_t>(branch.no), first,
         static_cast<std::int32_t>(made.members.size()), branch.asks, branch.nan_is_true});
  }
  for (const Index root : forest.roots) made.roots.push_back(static_cast<std::int32_t>(root));
  if (Descent<K> descent; descent.build(forest)) made.descent = std::move(descent);
  return made;
}

template <class S>
std::vector<S> ForestFacts::weights() const {
  constexpr std::size_t most_zeros = 8;  // for each vote
  const std::size_t leaves = votes_of.size() - 1, columns = static_cast<std::size_t>(targets);
  if (columns > most_zeros * (votes.size() / std::max<std::size_t>(leaves, 1) + 1)) return {};
  std::vector<S> made(leaves * columns, S(0));
  std::vector<bool> voted(made.size(), false);
  for (std::size_t k = 0; k < leaves; ++k) {
    for (auto at = votes_of[k]; at < votes_of[k + 1]; ++at) {
      const Vote& vote = votes[static_cast<std::size_t>(at)];
      const std::size_t slot = k * columns + static_cast<std::size_t>(vote.target);
      if (voted[slot]) return {};  // each vote is added by itself
      voted[slot] = true;
      made[slot] = static_cast<S>(vote.weight);
    }
  }
  return made;
}

}  // namespace touchstone::optimized
