// Which elements of a large output are judged.
#include <set>

#include "core/numbers/convert.h"
#include "reference/readings/wide.h"

namespace touchstone {

std::vector<Index> sample_positions(const Shape& shape, const Tensor* observed, Index sample, std::uint64_t seed) {
  std::set<Index> chosen;
  const Index all = count(shape);
  const Index corners = Index{1} << std::min<Index>(shape.size(), 4);
  for (Index bits = 0; bits < corners; ++bits) {
    Point at(shape.size(), 0);
    for (Index k = 0; k < std::min<Index>(shape.size(), 4); ++k) {
      if (bits >> k & 1) at[shape.size() - 1 - k] = shape[shape.size() - 1 - k] - 1;
    }
    chosen.insert(ravel(at, shape));
  }
  if (observed && observed->size() == all && facts(observed->type()).is_float) {
    Index least = 0, most = 0;
    for (Index k = 1; k < all; ++k) {
      const long double value = number_at(*observed, k);
      if (value < number_at(*observed, least)) least = k;
      if (value > number_at(*observed, most)) most = k;
    }
    chosen.insert(least), chosen.insert(most);
  }
  std::mt19937_64 random(seed);
  while (static_cast<Index>(chosen.size()) < std::min(sample + corners + 2, all)) {
    chosen.insert(static_cast<Index>(random() % static_cast<std::uint64_t>(all)));
  }
  return {chosen.begin(), chosen.end()};
}

}  // namespace touchstone
