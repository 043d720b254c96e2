// Tries other sizes for the symbols behind a violation.
#include "reference/shapes/choice_search.h"

#include <algorithm>
#include <utility>

namespace touchstone {
namespace {

constexpr int max_choices = 12;
constexpr std::size_t max_summed = 6;  // symbols of which one may be the sum of two others

std::string said(const Violation& violation) {
  const std::string rule =
      violation.error.rule.empty() ? "'" + violation.error.message + "'" : violation.error.rule;
  return rule + " (" + violation.error.place + ")";
}

std::string joined(const std::vector<std::size_t>& symbols, const std::vector<std::string>& names) {
  std::string all;
  for (const std::size_t s : symbols) all += (all.empty() ? "" : " and ") + names[s];
  return all;
}

}  // namespace

std::string SizeNote::text(const std::vector<std::string>& names) const {
  return joined(symbols, names) + taken + joined(summands, names) + why;
}

// Exporters name a size by its expression, "past + seq".
void ChoiceSearch::take_sums_by_name() {
  for (std::size_t whole = 0; whole < state_.symbols.size(); ++whole) {
    const std::string& name = state_.symbols[whole].name;
    const std::size_t plus = name.find(" + ");
    if (plus == std::string::npos) continue;
    const auto a = state_.by_name.find(name.substr(0, plus));
    const auto b = state_.by_name.find(name.substr(plus + 3));
    if (a == state_.by_name.end() || b == state_.by_name.end()) continue;
    choice.sum_of[whole] = {a->second, b->second};
    said_.insert(whole);
    notes.push_back({{whole}, " is taken as the sum of ", {a->second, b->second}, ", as it says"});
  }
}

InferredRun walk_at(ShapeInference& state, const Choice& choice, std::uint64_t draw) {
  return walk(state, [&](std::size_t symbol) { return choice.size(symbol, draw); });
}

InferredRun walk_with(ShapeInference& state, const Choice& choice,
                      const std::set<std::size_t>& changed) {
  return walk(state, [&](std::size_t symbol) { return choice.changed_size(changed, symbol); });
}

// Returns the first violation not known to be unavoidable; null if there is none.
const Violation* ChoiceSearch::first_of(const InferredRun& walked) const {
  for (const Violation& violation : walked.violations) {
    if (violation.surely_run && !hopeless_.contains(violation.step)) return &violation;
  }
  return nullptr;
}

ChoiceSearch::Reach ChoiceSearch::reach(const Choice& of) const {
  Reach least;
  for (const std::uint64_t draw : {0, 1, 2}) {
    const InferredRun walked = walk_at(state_, of, draw);
    if (const Violation* violation = first_of(walked))
      least.step = std::min(least.step, violation->step);
    const auto known = std::count_if(walked.shapes.begin(), walked.shapes.end(),
                                     [](const auto& shape) { return shape.has_value(); });
    least.known = std::min(least.known, known - walked.guesses);
  }
  return least;
}

std::vector<std::size_t> ChoiceSearch::symbols_behind(const Violation& violation) const {
  std::vector<std::size_t> found;
  for (std::size_t s = 0; s < std::min(state_.symbols.size(), max_single); ++s) {
    if (!choice.is_free(s)) continue;
    const InferredRun walked = walk_with(state_, choice, {s});
    const auto same = std::find_if(walked.violations.begin(), walked.violations.end(),
                                   [&](const Violation& b) { return b.step == violation.step; });
    if (same == walked.violations.end() || same->inputs != violation.inputs) found.push_back(s);
  }
  return found;
}

std::vector<ChoiceSearch::Alternative> ChoiceSearch::alternatives(
    std::vector<std::size_t> symbols) const {
  std::vector<Alternative> all;
  for (const Range& range : size_ranges) {
    Choice next = choice;
    next.range = range;
    if (range.low > choice.range.low)
      all.push_back({next, {{}, std::string("sizes are taken ") + range.what, {}, {}}});
  }
  // The named symbol of a pair is kept.
  std::stable_partition(symbols.begin(), symbols.end(),
                        [&](std::size_t s) { return !state_.symbols[s].name.empty(); });
  for (std::size_t a = 0; a < symbols.size(); ++a) {
    for (std::size_t b = a + 1; b < symbols.size(); ++b) {
      Choice next = choice;
      next.same_as[symbols[b]] = symbols[a];
      for (auto& [later, first] : next.same_as) {
        if (first == symbols[b]) first = symbols[a];
      }
      all.push_back({next, {{symbols[a], symbols[b]}, " are taken as one size", {}, {}}});
    }
  }
  for (std::size_t a = 0; a < symbols.size() && symbols.size() <= max_summed; ++a) {
    for (std::size_t b = a + 1; b < symbols.size(); ++b) {
      for (const std::size_t whole : symbols) {
        if (symbols[a] == whole || symbols[b] == whole) continue;
        Choice next = choice;
        next.sum_of[whole] = {symbols[a], symbols[b]};
        const std::vector<std::size_t> summands{symbols[a], symbols[b]};
        all.push_back({next, {{whole}, " is taken as the sum of ", summands, {}}});
      }
    }
  }
  for (const std::size_t s : symbols) {
    Choice next = choice;
    next.one.insert(s);
    all.push_back({next, {{s}, " is taken as 1", {}, {}}});
  }
  return all;
}

// Returns the first of those that get furthest, all beyond the violation where `before` ends.
std::optional<ChoiceSearch::Alternative> ChoiceSearch::best_of(std::vector<Alternative> all,
                                                               Reach before, Index reserved) const {
  std::optional<Alternative> best;
  Reach best_reach = before;
  for (Alternative& next : all) {
    const bool is_whole =
        best_reach.is_end() && std::cmp_equal(best_reach.known, state_.rows.size());
    if (state_.steps_left <= reserved || is_whole) break;
    if (const Reach now = reach(next.choice); now.step > before.step && now > best_reach)
      best_reach = now, best = std::move(next);
  }
  return best;
}

void ChoiceSearch::go(Index reserved) {
  take_sums_by_name();
  for (int round = 0; round < max_choices && state_.steps_left > reserved; ++round) {
    const Reach before = reach(choice);
    if (before.is_end()) break;
    InferredRun walked;
    const Violation* violation = nullptr;
    for (const std::uint64_t draw : {0, 1, 2}) {
      walked = walk_at(state_, choice, draw);
      violation = first_of(walked);
      if (violation && violation->step == before.step) break;
    }
    if (!violation) break;
    const std::vector<std::size_t> symbols = symbols_behind(*violation);
    std::optional<Alternative> best;
    if (!symbols.empty()) best = best_of(alternatives(symbols), before, reserved);
    if (best) {
      best->note.why = ": else " + said(*violation) + " does not hold";
      notes.push_back(std::move(best->note));
      choice = std::move(best->choice);
      continue;
    }
    hopeless_.insert(violation->step);
    if (!symbols.empty())
      notes.push_back(
          {{}, said(*violation) + " does not hold at any sizes that were tried", {}, {}});
  }
}

}  // namespace touchstone
