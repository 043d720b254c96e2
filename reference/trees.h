// Decision trees: the path of a row from root to leaf, and the aggregation of leaves over all
// trees. Comparisons are exact: elements and thresholds are compared by value, regardless of
// type.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "reference/scores.h"

namespace touchstone {

enum class Asks { at_most, less, at_least, more, equal, other, member };

// An inner node of a tree: a comparison of one feature, and two children.
struct Branch {
  Asks asks = Asks::at_most;
  Index feature = 0;
  long double split = 0;
  std::vector<long double> members;  // for Asks::member
  bool nan_is_true = false;
  Index yes = 0, no = 0;  // a branch, or ~k for leaf k

  bool holds(long double x) const {
    if (std::isnan(x)) return nan_is_true;
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
      case Asks::member:
        return std::find(members.begin(), members.end(), x) != members.end();
    }
    BUG("a branch asks for nothing");
  }
};

// All trees of an ensemble.
struct Forest {
  std::vector<Branch> branches;
  std::vector<Index> roots;  // as Branch::yes

  // The leaf that row n of x reaches in a tree.
  Index leaf(Index root, const Tensor& x, Index n) const {
    const Index features = x.shape()[1];
    Index at = root;
    for (std::size_t steps = 0; at >= 0; ++steps) {
      if (steps > branches.size()) throw Error(ErrorKind::invalid_model, "a tree runs in a circle");
      const Branch& branch = item(branches, at);
      at = branch.holds(number_at(x, n * features + branch.feature)) ? branch.yes : branch.no;
    }
    return ~at;
  }
};

enum class Aggregate { average, sum, min, max };

// Aggregates the votes for one target over `trees` trees and adds `base`. Without votes every
// aggregate is 0.
template <class S>
S aggregated(const std::vector<S>& votes, Aggregate how, std::size_t trees, const S& base) {
  Sum<S> sum;
  Min<S> least;
  Max<S> most;
  for (const S& vote : votes) sum.add(vote), least.add(vote), most.add(vote);
  if (how == Aggregate::sum || votes.empty()) {
    sum.add(base);
    return sum.get();
  }
  if (how == Aggregate::average) return sum.get() / from_index<S>(static_cast<Index>(trees)) + base;
  return (how == Aggregate::min ? least.get() : most.get()) + base;
}

// True if all are at least `low` and below `high`.
inline bool all_within(const IndexVector& list, Index low, Index high) {
  return std::all_of(list.begin(), list.end(), [&](Index i) { return i >= low && i < high; });
}

// A required tensor attribute; an unchecked model may lack it.
inline const Tensor& given_tensor(const Facts& facts, std::string_view name) {
  if (const Tensor* given = facts.tensor(name)) return *given;
  throw Error(ErrorKind::invalid_model, "the attribute '" + std::string(name) + "' is missing");
}

// Numbers given as a list of floats or, under another name, as a tensor.
inline Tensor numbers_or_tensor(const Facts& facts, std::string_view list,
                                std::string_view tensor) {
  if (const Tensor* given = facts.tensor(tensor)) {
    if (!touchstone::facts(given->type()).is_float)
      throw Error(ErrorKind::invalid_model,
                  "the attribute '" + std::string(tensor) + "' holds no floats");
    return *given;
  }
  const std::vector<float> numbers = facts.numbers(list);
  Tensor made(Type::float32, Shape{size(numbers)});
  std::copy(numbers.begin(), numbers.end(), made.data<float>());
  return made;
}

}  // namespace touchstone
