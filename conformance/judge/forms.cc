// Evaluates the entry's own formula and its alternatives.
#include "conformance/judge/forms.h"

namespace touchstone::judge {
namespace {

void widen(ExtendedOutput<Bounded>& first, const ExtendedOutput<Bounded>& other) {
  for (std::size_t k = 0; k < first.values.size() && k < other.values.size(); ++k)
    first.values[k] = hull(first.values[k], other.values[k]);
}

}  // namespace

std::vector<ExtendedOutput<Bounded>> outputs_by(const ExtendedEntry& entry, std::size_t formula,
                                                ExtendedCall<Bounded> call) {
  (formula == 0 ? entry.bounded : entry.also[formula - 1].bounded)(call);
  return std::move(call.outputs);
}

std::vector<ExtendedOutput<Bounded>> bounded_outputs(const ExtendedEntry& entry,
                                                     const ExtendedCall<Bounded>& call, Class cls) {
  std::vector<ExtendedOutput<Bounded>> first = outputs_by(entry, 0, call);
  if (cls == Class::strict) return first;
  for (std::size_t formula = 1; formula <= entry.also.size(); ++formula) {
    const std::vector<ExtendedOutput<Bounded>> other = outputs_by(entry, formula, call);
    for (std::size_t k = 0; k < first.size(); ++k) widen(first[k], other[k]);
  }
  return first;
}

}  // namespace touchstone::judge
