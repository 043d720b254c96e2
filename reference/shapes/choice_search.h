// Search for sizes of a model's symbols that violate no constraint.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reference/shapes/shape_choice.h"
#include "reference/shapes/shape_walk.h"

namespace touchstone {

inline constexpr std::size_t max_single = 24;  // symbols that are changed one by one

// A sentence about symbols: what they are taken as, and why.
struct SizeNote {
  std::vector<std::size_t> symbols;  // the names that it starts with
  std::string taken;
  std::vector<std::size_t> summands;
  std::string why;

  std::string text(const std::vector<std::string>& names) const;
};

InferredRun walk_at(ShapeInference& state, const Choice& choice, std::uint64_t draw);
// A pass in which the symbols of `changed` have other sizes than in draw 0 (Choice::changed_size).
InferredRun walk_with(ShapeInference& state, const Choice& choice,
                      const std::set<std::size_t>& changed);

// Replaces a choice that violates a constraint by the one that gets furthest, again and again.
class ChoiceSearch {
 public:
  explicit ChoiceSearch(ShapeInference& state) : state_(state) {}
  // Searches while more than `reserved` steps are left.
  void go(Index reserved);
  // True if the symbol's name says of which two it is the sum.
  bool is_said(std::size_t symbol) const { return said_.contains(symbol); }

  Choice choice;
  std::vector<SizeNote> notes;

 private:
  // Reach of a choice: the least number of values with known shapes, not guessed, and the
  // position of the first violation, or the largest number. One that makes shapes unknown only
  // hides violations.
  struct Reach {
    std::ptrdiff_t known = std::numeric_limits<std::ptrdiff_t>::max();
    Index step = std::numeric_limits<Index>::max();
    auto operator<=>(const Reach&) const = default;
    bool is_end() const { return step == std::numeric_limits<Index>::max(); }
  };
  struct Alternative {
    Choice choice;
    SizeNote note;
  };
  void take_sums_by_name();
  const Violation* first_of(const InferredRun& walked) const;
  Reach reach(const Choice& of) const;
  std::vector<std::size_t> symbols_behind(const Violation& violation) const;
  std::vector<Alternative> alternatives(std::vector<std::size_t> symbols) const;
  std::optional<Alternative> best_of(std::vector<Alternative> all, Reach before,
                                     Index reserved) const;

  ShapeInference& state_;
  std::set<std::size_t> said_;
  std::set<Index> hopeless_;  // steps whose violation no choice avoids
};

}  // namespace touchstone
