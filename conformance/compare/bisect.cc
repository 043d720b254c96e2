// Finds the hidden values that a fault needs. A runtime fuses nodes that are adjacent in the order
// of execution, so two binary searches find the range. Values inside the range that play no part
// are then exposed, in chunks and one by one.
#include "conformance/compare/bisect.h"

#include <algorithm>
#include <numeric>

namespace touchstone::compare {
namespace {

using Positions = std::vector<std::size_t>;

class Search {
 public:
  Search(std::size_t count, const Shows& shows, Index max_runs)
      : shows_(shows), max_runs_(max_runs) {
    found_.hidden.resize(count);
    std::iota(found_.hidden.begin(), found_.hidden.end(), std::size_t{0});
  }

  Bisected run() {
    cut_behind();
    cut_before();
    drop_pieces();
    return std::move(found_);
  }

 private:
  // True if hiding only these values shows the fault; then keeps them. Always false once the runs
  // are used up.
  bool enough(Positions hidden) {
    if (hidden.empty()) return false;
    if (found_.runs >= max_runs_) {
      found_.smallest = false;
      return false;
    }
    ++found_.runs;
    if (!shows_(hidden)) return false;
    found_.hidden = std::move(hidden);
    return true;
  }

  // Finds the shortest prefix that shows the fault, then the shortest suffix of that prefix.
  void cut_behind() {
    const Positions all = found_.hidden;
    std::size_t fails = 0, shows = all.size();
    while (shows - fails > 1) {
      const std::size_t middle = fails + (shows - fails) / 2;
      const auto end = all.begin() + static_cast<std::ptrdiff_t>(middle);
      (enough(Positions(all.begin(), end)) ? shows : fails) = middle;
    }
  }
  void cut_before() {
    const Positions all = found_.hidden;
    std::size_t shows = 0, fails = all.size();
    while (fails - shows > 1) {
      const std::size_t middle = shows + (fails - shows) / 2;
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(middle);
      (enough(Positions(begin, all.end())) ? shows : fails) = middle;
    }
  }

  void drop_pieces() {
    for (std::size_t piece = found_.hidden.size() / 2; piece > 0; piece /= 2) {
      for (std::size_t at = 0; at < found_.hidden.size();) {
        Positions rest = found_.hidden;
        const std::size_t size = std::min(piece, rest.size() - at);
        const auto begin = rest.begin() + static_cast<std::ptrdiff_t>(at);
        rest.erase(begin, begin + static_cast<std::ptrdiff_t>(size));
        if (!enough(std::move(rest))) at += piece;
      }
    }
  }

  const Shows& shows_;
  Index max_runs_;
  Bisected found_;
};

}  // namespace

Bisected bisect(std::size_t count, const Shows& shows, Index max_runs) {
  return Search(count, shows, max_runs).run();
}

}  // namespace touchstone::compare
