// Tests which class a faithful evaluation could rank best.
#include "reference/semantics/scores_extended.h"

#include <gtest/gtest.h>

#include <limits>

namespace touchstone {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

Bounded number(double x, double bound = 0) { return Bounded::raw(x, 0, bound); }
// A number that some order of its terms makes NaN.
Bounded perhaps_nan(double x) {
  Bounded made = Bounded::raw(x, 0, 0);
  made.add_specials(special::nan);
  return made;
}

// Positions of the classes that may be best.
std::vector<Index> best(std::vector<Bounded> votes) {
  const BoundedScope scope(Type::float32, Class::fast);
  const Scored<Bounded> scored{std::move(votes), {}};
  std::vector<Index> found;
  for (Index e = 0; e < size(scored.votes); ++e) {
    if (may_be_top(scored, e)) found.push_back(e);
  }
  return found;
}

using Classes = std::vector<Index>;

TEST(MayBeTop, TheFirstOfTheLargest) {
  EXPECT_EQ(best({number(1), number(3), number(2)}), Classes{1});
  EXPECT_EQ(best({number(1), number(3), number(3)}), Classes{1});
  EXPECT_EQ(best({number(3, 0.5), number(3.25, 0.5), number(1, 0.5)}), (Classes{0, 1}));
}

TEST(MayBeTop, TheFirstNan) {
  EXPECT_EQ(best({number(1), number(not_a_number), number(infinite)}), Classes{1});
  EXPECT_EQ(best({number(1), number(not_a_number), number(not_a_number)}), Classes{1});
  EXPECT_EQ(best({perhaps_nan(-infinite), number(not_a_number), number(-infinite)}),
            (Classes{0, 1}));
  EXPECT_EQ(best({number(not_a_number), perhaps_nan(1), number(2)}), Classes{0});
  EXPECT_EQ(best({number(2), perhaps_nan(1), number(0)}), (Classes{0, 1}));
}

}  // namespace
}  // namespace touchstone
