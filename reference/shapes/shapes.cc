// Chooses sizes for symbols, runs passes, and fits a size expression to every dimension.
//
// The sizes are pseudo-random with a fixed seed, so that two symbols rarely have equal sizes. If
// they violate a constraint, others are tried: larger sizes, multiples of 64, equal symbols, a
// symbol that is the sum of two others, a symbol of 1. The first choice that gets further through
// the model is kept and recorded in a note.
#include "reference/shapes/shapes.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "model/model.h"
#include "model/place.h"
#include "model/rules.h"
#include "reference/shapes/choice_search.h"
#include "reference/shapes/shape_walk.h"
#include "reference/shapes/size_expression.h"

namespace touchstone {
namespace {

constexpr Index max_steps = 3'000'000;     // all passes together
constexpr Index max_choosing = 1'000'000;  // the part spent on choosing sizes
constexpr std::size_t random_walks = 12, stair_walks = 64, max_stairs = 6;
// Sizes that no draw has, in multiples of the range's step: of all symbols at once, and of one with
// the others as in draw 0. A large one stands beside small ones, or tensors exceed the limits.
constexpr Index small_of_all[] = {1, 2, 8, 32}, small_of_one[] = {0, 1};
constexpr Index large_of_one = 10'000, beside_large = 3;
constexpr std::size_t max_apart = 8;  // symbols that stand for others and are also set apart

class Study {
 public:
  Study(const Model& model, const Limits& limits) : state_(model, limits, max_steps) {}

  InferredShapes go() {
    base_ = walk_at(state_, choice_, 0);
    const Index one_walk = max_steps - state_.steps_left;
    for_extremes_ =
        one_walk * static_cast<Index>(std::size(small_of_all) +
                                      (std::size(small_of_one) + 1) * max_single + 3 * max_apart);
    if (base_.gave_up || state_.steps_left < one_walk * walks_needed()) {
      gave_up_ = true;  // gives up early: half of the passes would yield nothing
    } else if (!state_.symbols.empty()) {
      constexpr Index of_a_round = static_cast<Index>(max_single) + 8;
      search_.go(
          std::max(state_.steps_left - max_choosing, one_walk * (walks_needed() + of_a_round)));
      base_ = walk_at(state_, choice_, 0);
    }
    if (!gave_up_) take_examples();
    fit_all();
    climb_stairs();
    try_extremes();
    name_symbols();
    find_assumptions();
    tell();
    return std::move(told_);
  }

 private:
  bool can_go_on(Index reserved = 0) const {
    return state_.steps_left > reserved && !base_.gave_up;
  }
  // Number of passes that examples need.
  Index walks_needed() const {
    const std::size_t symbols = state_.symbols.size();
    const std::size_t changes = std::min(symbols, max_single + 1);
    return symbols == 0 ? 0 : static_cast<Index>(1 + changes + random_walks);
  }

  void take_examples() {
    examples_.step = choice_.range.step;
    walks_.push_back(base_);
    std::vector<std::set<std::size_t>> changes;
    std::set<std::size_t> rest;
    for (std::size_t s = 0; s < state_.symbols.size(); ++s) {
      if (!choice_.is_free(s)) continue;
      if (changes.size() < max_single)
        changes.push_back({s});
      else
        rest.insert(s);
    }
    if (!rest.empty()) changes.push_back(rest);
    if (!state_.symbols.empty()) {
      for (const auto& changed : changes) {
        walks_.push_back(walk_with(state_, choice_, changed));
        examples_.changes.emplace_back(changed.begin(), changed.end());
      }
      for (std::size_t k = 1; k <= random_walks; ++k) walks_.push_back(walk_at(state_, choice_, k));
    }
    for (std::size_t k = 0; k < walks_.size(); ++k) {
      std::vector<Index> sizes;
      for (std::size_t s = 0; s < state_.symbols.size(); ++s) {
        sizes.push_back(k > 0 && k <= changes.size()
                            ? choice_.changed_size(changes[k - 1], s, 0)
                            : choice_.size(s, k == 0 ? 0 : k - changes.size()));
      }
      examples_.sizes.push_back(std::move(sizes));
    }
    for (const InferredRun& walked : walks_) gave_up_ = gave_up_ || walked.gave_up;
  }

  struct Open {  // a dimension that no polynomial gives
    std::size_t row;
    Index d;
    std::size_t symbol;
  };

  const std::optional<Shape>* shape_at(const InferredRun& walked, std::size_t row) const {
    return row < walked.shapes.size() ? &walked.shapes[row] : nullptr;
  }

  std::vector<Index> sizes_of(std::size_t row, Index d) const {
    std::vector<Index> sizes;
    for (const InferredRun& walked : walks_) sizes.push_back((*walked.shapes[row])[d]);
    return sizes;
  }

  bool has_one_rank(std::size_t row) const {
    for (const InferredRun& walked : walks_) {
      const std::optional<Shape>* shape = shape_at(walked, row);
      if (!shape || !*shape || (*shape)->size() != (*walks_[0].shapes[row]).size()) return false;
    }
    return true;
  }

  void fit_all() {
    expressions_.resize(state_.rows.size());
    if (gave_up_) return;
    std::map<std::vector<Index>, Fit> seen;
    for (std::size_t row = 0; row < state_.rows.size(); ++row) {
      if (!shape_at(walks_[0], row) || !walks_[0].shapes[row] || !has_one_rank(row)) continue;
      expressions_[row].emplace();
      for (Index d = 0; d < walks_[0].shapes[row]->size(); ++d) {
        const std::vector<Index> sizes = sizes_of(row, d);
        const auto [at, fresh] = seen.try_emplace(sizes);
        if (fresh) at->second = fit(examples_, sizes);
        expressions_[row]->push_back(at->second.form);
        if (!at->second.form.known && at->second.depends.size() == 1)
          open_.push_back({row, d, at->second.depends[0]});
      }
    }
  }

  // Grows a symbol by one repeatedly, which reveals the period of a floor division.
  void climb_stairs() {
    std::set<std::size_t> symbols;
    for (const Open& open : open_) {
      if (symbols.size() < max_stairs) symbols.insert(open.symbol);
    }
    if (examples_.step != 1) return;
    for (const std::size_t symbol : symbols) {
      std::vector<InferredRun> stairs;
      for (std::size_t k = 0; k < stair_walks && can_go_on(for_extremes_); ++k)
        stairs.push_back(k == 0 ? base_
                                : walk_with(state_, choice_, {symbol}, static_cast<Index>(k)));
      if (stairs.size() < stair_walks || stairs.back().gave_up) return;
      for (const Open& open : open_) {
        if (open.symbol != symbol) continue;
        Staircase staircase{symbol, examples_.sizes[0][symbol], {}};
        for (const InferredRun& walked : stairs) {
          const std::optional<Shape>* shape = shape_at(walked, open.row);
          if (!shape || !*shape || (*shape)->size() <= open.d) break;
          staircase.values.push_back((**shape)[open.d]);
        }
        if (staircase.values.size() != stair_walks) continue;
        (*expressions_[open.row])[static_cast<std::size_t>(open.d)] =
            fit_floor(examples_, sizes_of(open.row, open.d), staircase);
      }
    }
  }

  // Finds the sizes that other expressions give where symbols are small or large.
  void try_extremes() {
    exceptions_.resize(expressions_.size());
    if (gave_up_ || state_.symbols.empty()) return;
    const Index step = choice_.range.step;
    for (const Index size : small_of_all)
      try_extreme(choice_, [&](std::size_t) { return size * step; });
    const std::size_t single = std::min(state_.symbols.size(), max_single);
    for (std::size_t one = 0; one < single; ++one) {
      if (!choice_.is_free(one)) continue;
      for (const Index size : small_of_one)
        try_extreme(choice_,
                    [&](std::size_t s) { return s == one ? size * step : choice_.size(s, 0); });
      try_extreme(choice_, [&](std::size_t s) {
        return s == one ? large_of_one / step * step : beside_large * step;
      });
    }
    set_apart();
  }

  // Gives symbols that stand for another a size of their own: rules may allow others, too.
  void set_apart() {
    std::size_t count = 0;
    for (const auto& pair : choice_.same_as) {
      if (++count > max_apart) return;
      const std::size_t later = pair.first;
      Choice apart = choice_;
      apart.same_as.erase(later);
      const Index other = choice_.size(later, 0);
      for (const Index size : {Index{1}, other / 4, 3 * other + 1})
        try_extreme(apart, [&](std::size_t s) { return s == later ? size : apart.size(s, 0); });
    }
  }

  // `of_free` gives the size of a free symbol. A pass that the budget does not allow holds nothing.
  template <class OfFree>
  void try_extreme(const Choice& choice, OfFree&& of_free) {
    const auto size = [&](std::size_t symbol) { return choice.size_by(symbol, of_free); };
    const InferredRun walked = can_go_on() ? walk(state_, size) : InferredRun{};
    const bool is_whole = !walked.shapes.empty() && !walked.gave_up;
    std::vector<Index> sizes;
    for (std::size_t s = 0; s < state_.symbols.size(); ++s) sizes.push_back(size(s));
    for (std::size_t row = 0; row < expressions_.size(); ++row) {
      if (!expressions_[row]) continue;
      Exceptions& here = exceptions_[row];
      here.of_sizes.resize(expressions_[row]->size(), false);
      const std::optional<Shape>* shape = shape_at(walked, row);
      if (is_whole && (!shape || !*shape)) continue;  // no run has these sizes, or reaches it
      here.of_rank = here.of_rank || !is_whole || (*shape)->size() != std::ssize(here.of_sizes);
      for (std::size_t d = 0; d < here.of_sizes.size(); ++d) {
        here.of_sizes[d] = here.of_sizes[d] || here.of_rank ||
                           !gives((*expressions_[row])[d], sizes, (**shape)[static_cast<Index>(d)]);
      }
    }
  }

  // Numbers unnamed symbols in order of first use.
  void name_symbols() {
    names_.resize(state_.symbols.size());
    for (std::size_t s = 0; s < names_.size(); ++s) names_[s] = state_.symbols[s].name;
    std::size_t next = 0;
    for (const auto& row : expressions_) {
      if (!row) continue;
      for (const SizeExpression& form : *row) {
        for (const auto& [monomial, coefficient] : form.terms) {
          for (const std::size_t s : monomial) {
            if (names_[s].empty()) names_[s] = "?" + std::to_string(++next);
          }
        }
      }
    }
    for (std::string& name : names_) {
      if (name.empty()) name = "?" + std::to_string(++next);
    }
  }

  void tell() {
    expressions_.resize(state_.rows.size());
    for (std::size_t row = 0; row < state_.rows.size(); ++row) {
      const ShapeRow& from = state_.rows[row];
      InferredValue value{from.path, from.name, from.node, from.type, std::nullopt};
      if (expressions_[row]) {
        value.shape.emplace();
        value.rank_assumed = is_rank_assumed(row);
        for (std::size_t d = 0; d < expressions_[row]->size(); ++d) {
          const SizeExpression& form = (*expressions_[row])[d];
          value.shape->push_back({form.number(), form.text(names_), is_assumed(row, d)});
        }
        hold_against_declaration(from, *expressions_[row]);
      }
      told_.values.push_back(std::move(value));
    }
    for (const SizeNote& note : search_.notes) told_.notes.push_back(note.text(names_));
    if (gave_up_) told_.notes.push_back("the model is too large for its symbols to be followed");
    tell_rules();
  }

  // Takes the symbols that stand for others out of those that are free, and the pass in which none
  // is 1, for is_assumed().
  void find_assumptions() {
    for (const auto& [later, first] : choice_.same_as) shared_.insert(first);
    for (const auto& [whole, summands] : choice_.sum_of) {
      if (!search_.is_said(whole)) shared_.insert(summands.begin(), summands.end());
    }
    if (choice_.one.empty() || gave_up_) return;
    Choice without = choice_;
    without.one.clear();
    without_ones_ = walk_at(state_, without, 0);
  }

  bool is_assumed(std::size_t row, std::size_t d) const {
    const Exceptions& extremes = exceptions_[row];
    if (d < extremes.of_sizes.size() && extremes.of_sizes[d]) return true;
    const SizeExpression& form = (*expressions_[row])[d];
    const bool shared = std::any_of(form.terms.begin(), form.terms.end(), [&](const auto& term) {
      return std::any_of(term.first.begin(), term.first.end(),
                         [&](std::size_t s) { return shared_.contains(s); });
    });
    if (shared || !without_ones_) return shared;
    if (is_rank_assumed(row)) return true;
    const auto at = static_cast<Index>(d);
    return (*without_ones_->shapes[row])[at] != (*base_.shapes[row])[at];
  }

  bool is_rank_assumed(std::size_t row) const {
    if (exceptions_[row].of_rank) return true;
    if (!without_ones_) return false;
    const std::optional<Shape>* other = shape_at(*without_ones_, row);
    return !other || !*other || (*other)->size() != base_.shapes[row]->size();
  }

  // A rule violated with the same input shapes in every pass is violated at any sizes.
  void tell_rules() {
    for (const Violation& violation : base_.violations) {
      if (!violation.surely_run || gave_up_ || !choice_.one.empty()) continue;
      const bool always = std::all_of(walks_.begin(), walks_.end(), [&](const InferredRun& walked) {
        return std::any_of(
            walked.violations.begin(), walked.violations.end(), [&](const Violation& other) {
              return other.step == violation.step && other.inputs == violation.inputs &&
                     other.error.message == violation.error.message;
            });
      });
      if (always) told_.breaches.push_back(violation.error);
    }
  }

  // Null if the declaration leaves the size open, or names a symbol that the inputs lack.
  std::optional<SizeExpression> declared_expression(const Dim& dim) const {
    if (dim.size) return *dim.size < 0 ? std::nullopt : std::optional(number_expression(*dim.size));
    const auto found = state_.by_name.find(dim.symbol);
    if (dim.symbol.empty() || found == state_.by_name.end() ||
        !state_.symbols[found->second].of_input)
      return std::nullopt;
    if (!choice_.is_free(choice_.stands_for(found->second))) return std::nullopt;
    return symbol_expression(choice_.stands_for(found->second));
  }

  void hold_against_declaration(const ShapeRow& row, const std::vector<SizeExpression>& inferred) {
    if (!row.path.empty() || !row.declared || !row.declared->shape || !row.node) return;
    const std::vector<Dim>& declared = *row.declared->shape;
    bool differs = declared.size() != inferred.size();
    for (std::size_t d = 0; !differs && d < declared.size(); ++d) {
      const std::optional<SizeExpression> form = declared_expression(declared[d]);
      differs = form && constant_difference(*form, inferred[d]).value_or(0) != 0;
    }
    if (!differs) return;
    std::string says, is;
    for (const Dim& dim : declared)
      says += (says.empty() ? "" : ",") + (dim.size             ? std::to_string(*dim.size)
                                           : dim.symbol.empty() ? "?"
                                                                : dim.symbol);
    for (const SizeExpression& form : inferred) is += (is.empty() ? "" : ",") + form.text(names_);
    told_.breaches.push_back(breach("shape/declared", "'" + row.name + "' is declared as [" + says +
                                                          "], but is [" + is + "]")
                                 .with_place(place_of(*row.node, row.path)));
  }

  ShapeInference state_;
  ChoiceSearch search_{state_};
  const Choice& choice_ = search_.choice;
  InferredRun base_;
  std::vector<InferredRun> walks_;
  Examples examples_;
  std::vector<std::optional<std::vector<SizeExpression>>> expressions_;
  std::vector<Open> open_;
  std::vector<std::string> names_;
  std::set<std::size_t> shared_;  // symbols that stand for others, or are their summands
  struct Exceptions {             // of a value: where small or large symbols give other sizes
    bool of_rank = false;
    std::vector<bool> of_sizes;
  };
  std::vector<Exceptions> exceptions_;       // by row
  Index for_extremes_ = 0;                   // steps kept for the passes that find them
  std::optional<InferredRun> without_ones_;  // if some are taken as 1
  bool gave_up_ = false;
  InferredShapes told_;
};

}  // namespace

InferredShapes infer_shapes(const Model& model, const Limits& limits) {
  return Study(model, limits).go();
}

}  // namespace touchstone
