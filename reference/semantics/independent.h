// Bounded semantics of a sum of independent terms. In the aggregate their errors add up as squares;
// twice the root is allowed, as for the sum's own roundings (Sum<Bounded>::random_walk). A relative
// error common to all terms grows as the sum itself does, which those roundings cover.
#pragma once

#include <algorithm>
#include <cmath>

#include "reference/independent.h"
#include "reference/semantics/bounded.h"

namespace touchstone {

template <>
struct Independent<Bounded> {
 public:
  void add(const Bounded& x) {
    sum_.add(x);
    if (!std::isfinite(x.hi)) return;
    errors_ += x.e;
    squares_ += x.e * x.e;
  }
  void subtract(const Bounded& x) { add(-x); }
  Bounded get() const {
    Bounded sum = sum_.get();
    const double walk = 2 * std::sqrt(squares_);
    if (semantics_context.sums == Sums::aggregate && errors_ >= bounded::least_squared &&
        walk < errors_)
      sum.e = std::max(sum.e - (errors_ - walk), walk) * bounded::up;
    return sum;
  }

 private:
  Sum<Bounded> sum_;
  double errors_ = 0, squares_ = 0;  // sums of e and e^2
};

}  // namespace touchstone
