// Selects the elements of a large output that are judged.
#include <cmath>
#include <set>

#include "core/numbers/convert.h"
#include "reference/semantics/extended.h"

namespace touchstone {

namespace {

// First position of each kind of element; -1 if there is none.
struct Extremes {
  Index least = -1, most = -1;  // finite elements only
  Index nan = -1, infinity = -1, minus_infinity = -1;
};

Extremes extremes_of(const Tensor& tensor) {
  Extremes found;
  long double least = 0, most = 0;
  for (Index k = 0; k < tensor.size(); ++k) {
    const long double value = number_at(tensor, k);
    if (std::isnan(value)) {
      if (found.nan < 0) found.nan = k;
    } else if (std::isinf(value)) {
      Index& first = value > 0 ? found.infinity : found.minus_infinity;
      if (first < 0) first = k;
    } else {
      if (found.least < 0 || value < least) found.least = k, least = value;
      if (found.most < 0 || value > most) found.most = k, most = value;
    }
  }
  return found;
}

}  // namespace

std::vector<Index> sample_positions(const Shape& shape, const Tensor* observed, Index sample,
                                    std::uint64_t seed) {
  std::set<Index> chosen;
  const Index all = count(shape);
  const Index corners = Index{1} << std::min<Index>(shape.size(), 4);
  for (Index bits = 0; bits < corners; ++bits) {
    IndexVector at(shape.size(), 0);
    for (Index k = 0; k < std::min<Index>(shape.size(), 4); ++k) {
      if (bits >> k & 1) at[shape.size() - 1 - k] = shape[shape.size() - 1 - k] - 1;
    }
    chosen.insert(ravel(at, shape));
  }
  if (observed && observed->size() == all && facts(observed->type()).is_float) {
    const Extremes found = extremes_of(*observed);
    for (const Index k :
         {found.least, found.most, found.nan, found.infinity, found.minus_infinity}) {
      if (k >= 0) chosen.insert(k);
    }
  }
  std::mt19937_64 random(seed);
  while (static_cast<Index>(chosen.size()) < std::min(sample + corners + 2, all)) {
    chosen.insert(static_cast<Index>(random() % static_cast<std::uint64_t>(all)));
  }
  return {chosen.begin(), chosen.end()};
}

}  // namespace touchstone
