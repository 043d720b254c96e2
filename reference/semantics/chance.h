// Comparison of random draws with the distribution that a definition names: how often values occur,
// where the bounds of single elements say only which values can occur.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/numbers/formats.h"
#include "core/shape.h"

namespace touchstone::extended {

// Draws of one output whose frequencies were compared.
struct Frequencies {
  Index compared = 0;      // 0: too few to tell anything
  std::string improbable;  // why chance does not give these; "": it may
};

// Largest distance of a share of `draws` from its expectation that chance exceeds at most once in
// 10^12 comparisons of `questions` shares each. From 57 draws on it is under a half.
// Sources: Hoeffding, "Probability inequalities for sums of bounded random variables" (1963);
// Massart, "The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality" (1990).
double farthest_by_chance(Index draws, Index questions = 1);

// Compares draws of one continuous distribution. `share_up_to(x)` is the probability of at most x.
// Rounding to `format` may have moved each draw to either neighbour.
Frequencies compare_numbers(std::vector<double> draws,
                            const std::function<double(double)>& share_up_to, const Format& format);

// One draw of 0 or 1.
struct Trial {
  double probability;  // of 1, in (0, 1)
  bool came;           // 1 was drawn
};

// Compares trials with their probabilities: as often as expected, and rather where probable.
Frequencies compare_trials(const std::vector<Trial>& trials);

// Draws of one row of classes.
struct ClassRow {
  std::vector<double> probabilities;  // sum 1
  std::vector<Index> drawn;           // of each class
};

// Compares the classes of each row with its probabilities, and those of all rows together.
Frequencies compare_classes(const std::vector<ClassRow>& rows);

}  // namespace touchstone::extended
