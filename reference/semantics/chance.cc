// Distances of shares of draws from their expectations, held to what chance exceeds once in 10^12.
#include "reference/semantics/chance.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace touchstone::extended {
namespace {

constexpr double odds = 1e12;                 // a faithful draw is refused once in so many
constexpr double coarse_generator = 0x1p-10;  // distance of a generator's steps, at most
constexpr double half = 0.5;  // a distance that even a constant answer does not exceed

double as_double(Index n) { return static_cast<double>(n); }

std::string reason(const std::string& what, double share, double expected, Index draws,
                   double farthest) {
  std::ostringstream out;
  out << what << ": " << share << " of " << draws << " draws for " << expected
      << ", and chance reaches " << farthest;
  return out.str();
}

// Sum of the differences of trials from their probabilities, each with a weight of at most 1.
struct Surplus {
  double sum = 0, squares = 0;

  void add(double weight, const Trial& trial) {
    sum += weight * ((trial.came ? 1 : 0) - trial.probability);
    squares += weight * weight;
  }
  // Distance by Hoeffding's inequality of a weighted sum.
  double farthest(Index questions) const {
    return std::sqrt(squares * std::log(2 * odds * as_double(questions)) / 2);
  }
};

}  // namespace

double farthest_by_chance(Index draws, Index questions) {
  return std::sqrt(std::log(2 * odds * as_double(questions)) / (2 * as_double(draws)));
}

Frequencies compare_numbers(std::vector<double> draws,
                            const std::function<double(double)>& share_up_to,
                            const Format& format) {
  Frequencies out;
  const auto n = static_cast<Index>(draws.size());
  if (n == 0 || farthest_by_chance(n) >= half) return out;
  out.compared = n;
  const double farthest = farthest_by_chance(n) + coarse_generator;
  std::sort(draws.begin(), draws.end());
  for (std::size_t first = 0, behind = 0; first < draws.size(); first = behind) {
    const double x = draws[first];
    while (behind < draws.size() && draws[behind] == x) ++behind;
    const double step = std::isinf(x) ? 0
                                      : std::ldexp(std::abs(x), 1 - format.precision) +
                                            static_cast<double>(format.smallest_subnormal);
    const double before = as_double(static_cast<Index>(first)) / as_double(n),
                 up_to = as_double(static_cast<Index>(behind)) / as_double(n);
    if (before < share_up_to(x - step) - farthest)
      out.improbable =
          reason("less than " + std::to_string(x), before, share_up_to(x), n, farthest);
    if (up_to > share_up_to(x + step) + farthest)
      out.improbable = reason("at most " + std::to_string(x), up_to, share_up_to(x), n, farthest);
    if (!out.improbable.empty()) return out;
  }
  return out;
}

Frequencies compare_trials(const std::vector<Trial>& trials) {
  constexpr Index questions = 2;
  Frequencies out;
  const auto n = static_cast<Index>(trials.size());
  if (n == 0 || farthest_by_chance(n, questions) >= half) return out;
  out.compared = n;
  Surplus all, probable;
  double expected = 0;
  for (const Trial& trial : trials) {
    expected += trial.probability;
    all.add(1, trial);
    probable.add(2 * trial.probability - 1, trial);
  }
  const double share = (expected + all.sum) / as_double(n);
  if (std::abs(all.sum) > all.farthest(questions) + coarse_generator * as_double(n)) {
    out.improbable =
        reason("ones", share, expected / as_double(n), n, farthest_by_chance(n, questions));
  } else if (std::abs(probable.sum) >
             probable.farthest(questions) + coarse_generator * as_double(n)) {
    out.improbable = "ones come too " + std::string(probable.sum > 0 ? "often" : "seldom") +
                     " where they are probable, in " + std::to_string(n) + " draws";
  }
  return out;
}

Frequencies compare_classes(const std::vector<ClassRow>& rows) {
  Frequencies out;
  Index classes = 0, draws = 0;
  for (const ClassRow& row : rows) {
    classes = std::max(classes, static_cast<Index>(row.drawn.size()));
    for (const Index count : row.drawn) draws += count;
  }
  const Index questions = std::max<Index>(1, classes) * (1 + static_cast<Index>(rows.size()));
  if (draws == 0 || farthest_by_chance(draws, questions) >= half) return out;
  out.compared = draws;
  // Draws and expectations of classes up to each one, over all rows.
  std::vector<double> came(static_cast<std::size_t>(classes)), wanted(came.size());
  const auto hold = [&](const std::string& where, double share, double expected, Index n) {
    const double farthest = farthest_by_chance(n, questions);
    if (std::abs(share - expected) > farthest + coarse_generator)
      out.improbable = reason(where, share, expected, n, farthest);
  };
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const ClassRow& row = rows[r];
    Index n = 0, so_far = 0;
    for (const Index count : row.drawn) n += count;
    double expected = 0;
    for (std::size_t c = 0; c < row.drawn.size(); ++c) {
      so_far += row.drawn[c];
      expected += row.probabilities[c];
      came[c] += as_double(so_far);
      wanted[c] += expected * as_double(n);
      if (n > 0)
        hold("row " + std::to_string(r) + ", classes up to " + std::to_string(c),
             as_double(so_far) / as_double(n), expected, n);
    }
  }
  for (std::size_t c = 0; c < came.size(); ++c)
    hold("classes up to " + std::to_string(c), came[c] / as_double(draws),
         wanted[c] / as_double(draws), draws);
  return out;
}

}  // namespace touchstone::extended
