// Trees laid out for a descent without jumps that a processor would have to predict: every node is
// one comparison, and siblings are neighbours.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "reference/trees.h"

namespace touchstone::optimized {

template <class K>
class Descent {
 public:
  static constexpr std::size_t together = 8;  // paths that advance side by side
  static constexpr std::size_t bytes_a_branch = 2 * (2 * sizeof(K) + 3 * sizeof(std::int32_t));
  using Places = std::array<std::int32_t, together>;

  // Returns false for a forest with other comparisons, or with nodes of several parents.
  bool build(const Forest& forest) {
    std::vector<bool> seen(forest.branches.size(), false);
    for (const Index root : forest.roots) {
      roots_.push_back(grow());
      std::vector<Task> level{{root, roots_.back()}}, below;
      depths_.push_back(0);
      for (; !level.empty(); level.swap(below), below.clear()) {
        bool branches = false;
        for (const Task& task : level) {
          if (task.from < 0) {
            leaves_[static_cast<std::size_t>(task.place)] = static_cast<std::int32_t>(~task.from);
            continue;
          }
          const auto k = static_cast<std::size_t>(task.from);
          if (seen[k]) return false;
          seen[k] = branches = true;
          if (!set(forest.branches[k], task.place, below)) return false;
        }
        depths_.back() += branches ? 1 : 0;
      }
    }
    return true;
  }

  std::size_t trees() const { return roots_.size(); }
  std::int32_t leaf(std::int32_t place) const { return leaves_[static_cast<std::size_t>(place)]; }
  // True if it matters whether rows hold NaN.
  bool asks_for_nan() const { return asks_for_nan_; }

  // Places that several rows reach in one tree.
  void rows(std::size_t tree, const K* rows, Index stride, bool nan, Places& at) const {
    at.fill(roots_[tree]);
    descend(depths_[tree], rows, stride, nan, at);
  }
  // Places that one row reaches in several trees; those past the last repeat it.
  void trees(std::size_t first, const K* row, bool nan, Places& at) const {
    Index deepest = 0;
    for (std::size_t n = 0; n < together; ++n) {
      const std::size_t tree = std::min(first + n, roots_.size() - 1);
      at[n] = roots_[tree];
      deepest = std::max(deepest, depths_[tree]);
    }
    descend(deepest, row, 0, nan, at);
  }

 private:
  // A row goes to `child`, or to the next place if x <= split. A leaf compares with NaN, and is its
  // own child.
  struct Place {
    K split = std::numeric_limits<K>::quiet_NaN();
    std::int32_t feature = 0, child = 0;
  };
  struct Task {
    Index from;  // as Branch::yes
    std::int32_t place;
  };

  std::int32_t grow() {
    const auto place = static_cast<std::int32_t>(places_.size());
    places_.push_back({.child = place});
    nan_holds_.push_back(0);
    leaves_.push_back(-1);
    return place;
  }

  bool set(const Branch& branch, std::int32_t at, std::vector<Task>& below) {
    constexpr K infinity = std::numeric_limits<K>::infinity();
    K split = static_cast<K>(branch.split);
    const bool less = branch.asks == Asks::less, at_least = branch.asks == Asks::at_least;
    const bool inverted = at_least || branch.asks == Asks::more;
    if (!less && !inverted && branch.asks != Asks::at_most) return false;
    if (split != split && inverted) return false;  // no number holds, of either comparison
    if (less || at_least)
      split = split == -infinity ? std::numeric_limits<K>::quiet_NaN()
                                 : std::nextafter(split, -infinity);
    const bool nan = branch.nan_is_true != inverted;
    const std::int32_t first = grow(), second = grow();
    places_[static_cast<std::size_t>(at)] = {split, static_cast<std::int32_t>(branch.feature),
                                             first};
    nan_holds_[static_cast<std::size_t>(at)] = nan;
    asks_for_nan_ = asks_for_nan_ || nan;
    below.push_back({inverted ? branch.yes : branch.no, first});
    below.push_back({inverted ? branch.no : branch.yes, second});
    return true;
  }

  void descend(Index depth, const K* rows, Index stride, bool nan, Places& at) const {
    if (nan)
      steps<true>(depth, rows, stride, at);
    else
      steps<false>(depth, rows, stride, at);
  }
  template <bool nan>
  void steps(Index depth, const K* rows, Index stride, Places& places) const {
    constexpr Index between_checks = 3;
    Places at = places;
    for (; depth > between_checks; depth -= between_checks + 1) {
      for (Index k = 0; k < between_checks; ++k) step<nan>(rows, stride, at);
      if (!step<nan>(rows, stride, at)) depth = 0;
    }
    for (; depth > 0; --depth) step<nan>(rows, stride, at);
    places = at;
  }
  // Returns false if all paths have ended.
  template <bool nan>
  bool step(const K* rows, Index stride, Places& at) const {
    std::int32_t moved = 0;
#pragma GCC unroll 8
    for (std::size_t n = 0; n < together; ++n) {
      const auto here = static_cast<std::size_t>(at[n]);
      const Place& place = places_[here];
      const K x = rows[static_cast<Index>(n) * stride + place.feature];
      std::int32_t next = place.child + static_cast<std::int32_t>(x <= place.split);
      if constexpr (nan) next += static_cast<std::int32_t>(x != x) & nan_holds_[here];
      moved |= next ^ at[n];
      at[n] = next;
    }
    return moved != 0;
  }

  std::vector<Place> places_;
  std::vector<std::int32_t> leaves_;     // -1 for a branch
  std::vector<std::uint8_t> nan_holds_;  // 1 if NaN goes to the next place
  std::vector<std::int32_t> roots_;
  std::vector<Index> depths_;
  bool asks_for_nan_ = false;
};

}  // namespace touchstone::optimized
