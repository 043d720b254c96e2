// Chooses sizes for symbols, follows them over the model beside their symbols, and holds what comes
// out to passes at other sizes.
//
// The sizes are pseudo-random with a fixed seed, so that two symbols rarely have equal sizes. If
// they violate a constraint, others are tried (choice_search.h). The choice that gets furthest
// through the model is kept and recorded in a note.
#include "reference/shapes/shapes.h"

#include <algorithm>
#include <map>
#include <set>

#include "model/model.h"
#include "model/place.h"
#include "model/rules.h"
#include "reference/shapes/choice_search.h"
#include "reference/shapes/shape_walk.h"

namespace touchstone {
namespace {

constexpr Index max_steps = 3'000'000;     // all passes together
constexpr Index max_choosing = 1'000'000;  // the part spent on choosing sizes
constexpr std::uint64_t other_draws = 3;   // passes that refute guessed sizes
// Sizes of one symbol that may break a guard, with the others as chosen. A large one stands beside
// small ones, or tensors exceed the limits.
constexpr Index sizes_of_one[] = {0, 1, 2, 3, 7, 20, 49, 100, 300, 1000, 10'000};
constexpr Index beside_large = 3;
constexpr Index large = 1000;
constexpr Index sizes_of_all[] = {1, 2};
constexpr std::size_t max_guards = 16;
constexpr std::size_t max_apart = 8;  // symbols that stand for others and are also set apart

// Size of each symbol in a pass.
using SymbolSizes = std::function<Index(std::size_t symbol)>;

class Study {
 public:
  Study(const Model& model, const Limits& limits) : state_(model, limits, max_steps) {}

  InferredShapes go() {
    base_ = walk_at(state_, choice_, 0);
    const Index one_walk = max_steps - state_.steps_left;
    constexpr Index passes = 64, of_a_round = static_cast<Index>(max_single) + 8;
    if (base_.gave_up || (!state_.symbols.empty() && state_.steps_left < one_walk * 2)) {
      gave_up_ = true;
    } else if (!state_.symbols.empty()) {
      search_.go(std::max(state_.steps_left - max_choosing, one_walk * (passes + of_a_round)));
    }
    if (!gave_up_ && !state_.symbols.empty()) follow_symbols();
    name_symbols();
    if (!gave_up_) find_exceptions();
    tell();
    return std::move(told_);
  }

 private:
  // One pass over symbols, at the sizes of draw 0.
  void follow_symbols() {
    state_.sizes = &table_;
    state_.symbol_size = [this](std::size_t symbol) { return symbol_size(symbol); };
    base_ = walk_at(state_, choice_, 0);
    state_.sizes = nullptr;
    gave_up_ = base_.gave_up;
  }

  static std::string internal_name(std::size_t symbol) { return "#" + std::to_string(symbol); }

  SymbolicInteger symbol_size(std::size_t symbol) {
    if (const auto found = symbol_sizes_.find(symbol); found != symbol_sizes_.end())
      return found->second;
    const std::size_t s = choice_.stands_for(symbol);
    SymbolicInteger size = 1;
    if (const auto sum = choice_.sum_of.find(s); sum != choice_.sum_of.end()) {
      size = table_.add(symbol_size(sum->second[0]), symbol_size(sum->second[1]));
    } else if (!choice_.one.contains(s)) {
      size = s == symbol ? table_.symbol(internal_name(s), choice_.size(s, 0), 0, INT32_MAX)
                         : symbol_size(s);
    }
    return symbol_sizes_.emplace(symbol, size).first->second;
  }

  std::optional<std::vector<SymbolicInteger>> sizes_of(std::size_t row) const {
    if (gave_up_ || row >= base_.shapes.size() || !base_.shapes[row]) return std::nullopt;
    SymbolicTensor of = symbolic_sizes(base_.shapes[row], state_.symbolic_of(row));
    if (!of.has_rank) return std::nullopt;
    for (SymbolicInteger& size : of.sizes) size = table_.normal(size);
    return std::move(of.sizes);
  }

  // -- passes at other sizes

  struct Exceptions {  // of a value: where passes refute its sizes, or other sizes make others
    bool refuted = false, of_rank = false;
    std::vector<bool> of_sizes;
  };

  SymbolTable::Values values_at(const SymbolSizes& size) const {
    SymbolTable::Values values;
    for (std::size_t s = 0; s < state_.symbols.size(); ++s) values[internal_name(s)] = size(s);
    return values;
  }

  // Reading of a pass with other sizes. Sizes that differ there are wrong or exceptions; values
  // without a shape there tell nothing, or are exceptions.
  enum class Reading { refutes, excepts, excepts_missing };

  void compare(const SymbolSizes& size, Reading reading) {
    const InferredRun walked = state_.steps_left > 0 ? walk(state_, size) : InferredRun{};
    const bool refutes = reading == Reading::refutes;
    if (refutes) keep_common(walked.violations);
    const bool is_whole = !walked.shapes.empty() && !walked.gave_up;
    const SymbolTable::Values values = values_at(size);
    for (std::size_t row = 0; row < sizes_.size(); ++row) {
      if (!sizes_[row]) continue;
      Exceptions& here = exceptions_[row];
      const bool has_shape = row < walked.shapes.size() && walked.shapes[row];
      // No run has these sizes, or reaches the value.
      if (is_whole && !has_shape && reading != Reading::excepts_missing) continue;
      const bool other_rank = !has_shape || walked.shapes[row]->size() != std::ssize(here.of_sizes);
      if (refutes) here.refuted = here.refuted || (is_whole && other_rank);
      here.of_rank = here.of_rank || other_rank;
      for (std::size_t d = 0; d < here.of_sizes.size(); ++d) {
        const bool same = !other_rank && table_.value((*sizes_[row])[d], values) ==
                                             (*walked.shapes[row])[static_cast<Index>(d)];
        here.of_sizes[d] = here.of_sizes[d] || !same;
        if (refutes && is_whole && !same && !other_rank) open_.insert({row, d});
      }
    }
  }

  // Keeps the violations of the base pass that this one has, too.
  void keep_common(const std::vector<Violation>& violations) {
    std::erase_if(base_.violations, [&](const Violation& one) {
      return std::none_of(violations.begin(), violations.end(), [&](const Violation& other) {
        return other.step == one.step && other.error.message == one.error.message;
      });
    });
  }

  void find_exceptions() {
    for (std::size_t row = 0; row < state_.rows.size(); ++row) {
      sizes_.push_back(sizes_of(row));
      exceptions_.emplace_back();
      if (sizes_.back()) exceptions_.back().of_sizes.resize(sizes_.back()->size(), false);
    }
    if (state_.symbols.empty()) return;
    const Index step = choice_.range.step;
    for (std::uint64_t draw = 1; draw <= other_draws; ++draw)
      compare([&](std::size_t s) { return choice_.size(s, draw); }, Reading::refutes);
    for (const Index all : sizes_of_all)
      compare([&](std::size_t s) { return choice_.size_by(s, [&](auto) { return all * step; }); },
              Reading::excepts);
    for (std::size_t one = 0; one < std::min(state_.symbols.size(), max_single); ++one) {
      if (choice_.is_free(one))
        compare(with_one(one, 0), Reading::excepts);  // a loop without a trip
    }
    break_guards();
    set_apart();
    if (choice_.one.empty()) return;
    Choice without = choice_;
    without.one.clear();
    compare([&](std::size_t s) { return without.size(s, 0); }, Reading::excepts_missing);
  }

  // One pass for each guard, at sizes at which it does not hold.
  void break_guards() {
    std::set<std::pair<std::size_t, Index>> done;
    std::size_t count = 0;
    for (const SymbolTable::Guard& guard : table_.guards()) {
      if (++count > max_guards) {
        for (Exceptions& one : exceptions_) one.of_sizes.assign(one.of_sizes.size(), true);
        return;
      }
      for (std::size_t one = 0; one < state_.symbols.size(); ++one) {
        if (!choice_.is_free(one)) continue;
        const auto broken = std::find_if(
            std::begin(sizes_of_one), std::end(sizes_of_one),
            [&](Index size) { return !table_.hold(guard, values_at(with_one(one, size))); });
        if (broken == std::end(sizes_of_one) || !done.insert({one, *broken}).second) continue;
        compare(with_one(one, *broken), Reading::excepts);
      }
    }
  }

  SymbolSizes with_one(std::size_t one, Index size) const {
    const Index step = choice_.range.step;
    return [this, one, size, step](std::size_t symbol) {
      return choice_.size_by(symbol, [&](std::size_t s) {
        if (s == one) return size * step;
        return size >= large ? beside_large * step : choice_.size(s, 0);
      });
    };
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
      for (const Index size : {Index{1}, other / 4, 3 * other + 1}) {
        compare(
            [&](std::size_t symbol) {
              return apart.size_by(
                  symbol, [&](std::size_t s) { return s == later ? size : apart.size(s, 0); });
            },
            Reading::excepts);
      }
    }
  }

  // -- names and results

  std::string shown(SymbolicInteger size) const {
    return table_.text(size, [this](const std::string& name) {
      const auto found = names_.find(name);
      return found == names_.end() ? name : found->second;
    });
  }

  void number_name(const std::string& name) {
    if (name[0] == '#' && !names_.contains(name))
      names_[name] = "?" + std::to_string(++names_given_);
  }

  // Numbers what has no name in order of first use: symbols and long expressions.
  void name_symbols() {
    for (std::size_t s = 0; s < state_.symbols.size(); ++s) {
      if (!state_.symbols[s].name.empty()) names_[internal_name(s)] = state_.symbols[s].name;
    }
    for (std::size_t row = 0; row < state_.rows.size(); ++row) {
      const auto sizes = sizes_of(row);
      if (!sizes) continue;
      for (const SymbolicInteger& size : *sizes) {
        for (const std::string& name : table_.names(size)) number_name(name);
      }
    }
  }

  std::vector<std::string> symbol_names() {
    std::vector<std::string> names;
    for (std::size_t s = 0; s < state_.symbols.size(); ++s) {
      number_name(internal_name(s));
      names.push_back(names_.at(internal_name(s)));
    }
    return names;
  }

  void tell() {
    sizes_.resize(state_.rows.size());
    exceptions_.resize(state_.rows.size());
    find_shared();
    for (std::size_t row = 0; row < state_.rows.size(); ++row) {
      const ShapeRow& from = state_.rows[row];
      InferredValue value{from.path, from.name, from.node, from.type, std::nullopt};
      if (sizes_[row] && !exceptions_[row].refuted) {
        value.shape.emplace();
        value.rank_assumed = exceptions_[row].of_rank;
        for (std::size_t d = 0; d < sizes_[row]->size(); ++d) {
          const SymbolicInteger& size = (*sizes_[row])[d];
          if (open_.contains({row, d}))
            value.shape->push_back({std::nullopt, "?", true});
          else
            value.shape->push_back({size.constant(), shown(size), is_assumed(row, d)});
        }
        hold_against_declaration(from, *sizes_[row], *value.shape);
      }
      told_.values.push_back(std::move(value));
    }
    const std::vector<std::string> names = symbol_names();
    for (const SizeNote& note : search_.notes) told_.notes.push_back(note.text(names));
    if (gave_up_) told_.notes.push_back("the model is too large for its symbols to be followed");
    tell_rules();
  }

  // Symbols that stand for others, or are their summands.
  void find_shared() {
    for (const auto& [later, first] : choice_.same_as) shared_.insert(internal_name(first));
    for (const auto& [whole, summands] : choice_.sum_of) {
      if (search_.is_said(whole)) continue;
      for (const std::size_t one : summands) shared_.insert(internal_name(one));
    }
  }

  bool is_assumed(std::size_t row, std::size_t d) const {
    if (exceptions_[row].of_sizes[d]) return true;
    if (shared_.empty()) return false;
    const std::vector<std::string> names = table_.names((*sizes_[row])[d]);
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return shared_.contains(name); });
  }

  // A rule that constants alone violate is violated at any sizes.
  void tell_rules() {
    for (const Violation& violation : base_.violations) {
      const bool always = violation.of_constants || state_.symbols.empty();
      if (violation.surely_run && always && !gave_up_ && choice_.one.empty())
        told_.breaches.push_back(violation.error);
    }
  }

  // Nothing if the declaration leaves the size open, or names a symbol that the inputs lack.
  std::optional<SymbolicInteger> declared_size(const Dim& dim) {
    if (dim.size) return *dim.size < 0 ? std::nullopt : std::optional(SymbolicInteger(*dim.size));
    const auto found = state_.by_name.find(dim.symbol);
    if (dim.symbol.empty() || found == state_.by_name.end() ||
        !state_.symbols[found->second].of_input)
      return std::nullopt;
    if (!choice_.is_free(choice_.stands_for(found->second))) return std::nullopt;
    return symbol_size(found->second);
  }

  void hold_against_declaration(const ShapeRow& row, const std::vector<SymbolicInteger>& inferred,
                                const std::vector<InferredSize>& shown) {
    if (!row.path.empty() || !row.declared || !row.declared->shape || !row.node) return;
    const std::vector<Dim>& declared = *row.declared->shape;
    bool differs = declared.size() != inferred.size();
    for (std::size_t d = 0; !differs && d < declared.size(); ++d) {
      const std::optional<SymbolicInteger> size = declared_size(declared[d]);
      if (!size || shown[d].text == "?") continue;
      try {
        differs = table_.normal(table_.subtract(*size, inferred[d])).constant().value_or(0) != 0;
      } catch (const Undecided&) {
      }
    }
    if (!differs) return;
    std::string says, is;
    for (const Dim& dim : declared)
      says += (says.empty() ? "" : ",") + (dim.size             ? std::to_string(*dim.size)
                                           : dim.symbol.empty() ? "?"
                                                                : dim.symbol);
    for (const InferredSize& size : shown) is += (is.empty() ? "" : ",") + size.text;
    told_.breaches.push_back(breach("shape/declared", "'" + row.name + "' is declared as [" + says +
                                                          "], but is [" + is + "]")
                                 .with_place(place_of(*row.node, row.path)));
  }

  ShapeInference state_;
  ChoiceSearch search_{state_};
  const Choice& choice_ = search_.choice;
  mutable SymbolTable table_;
  std::map<std::size_t, SymbolicInteger> symbol_sizes_;
  InferredRun base_;
  std::vector<std::optional<std::vector<SymbolicInteger>>> sizes_;  // by row
  std::vector<Exceptions> exceptions_;                              // by row
  std::set<std::pair<std::size_t, std::size_t>> open_;  // sizes that another pass refuted
  std::map<std::string, std::string> names_;            // shown ones, by those in the table
  std::size_t names_given_ = 0;
  std::set<std::string> shared_;
  bool gave_up_ = false;
  InferredShapes told_;
};

}  // namespace

InferredShapes infer_shapes(const Model& model, const Limits& limits) {
  return Study(model, limits).go();
}

}  // namespace touchstone
