// The first form, and the others beside it.
#include "conformance/judge/forms.h"

namespace touchstone {
namespace {

// What either form allows.
void widen(WideOutput<Bounded>& first, const WideOutput<Bounded>& other) {
  for (std::size_t k = 0; k < first.values.size() && k < other.values.size(); ++k)
    first.values[k] = hull(first.values[k], other.values[k]);
}

}  // namespace

std::vector<WideOutput<Bounded>> bounded_outputs(const WideEntry& entry, WideCall<Bounded> call,
                                                 Class cls) {
  WideCall<Bounded> first = call;
  entry.bounded(first);
  if (cls == Class::strict) return std::move(first.outputs);
  for (const WideForm& form : entry.also) {
    WideCall<Bounded> other = call;
    form.bounded(other);
    for (std::size_t k = 0; k < first.outputs.size(); ++k) widen(first.outputs[k], other.outputs[k]);
  }
  return std::move(first.outputs);
}

}  // namespace touchstone
