// Copies of values out of a plan's memory. Sequences and optionals are copied with what they hold.
#include "optimized/plan/plan_memory.h"

#include <algorithm>
#include <cstring>

namespace touchstone::optimized {

bool is_outside(const Value& value, const PlanMemory& own) {
  if (value.is_tensor()) {
    const Tensor& held = value.tensor();
    return held.type() == Type::string || !own.holds(held.bytes());
  }
  if (const auto* sequence = std::get_if<Sequence>(&value.is)) {
    return std::all_of(sequence->items.begin(), sequence->items.end(),
                       [&](const Value& item) { return is_outside(item, own); });
  }
  if (const auto* optional = std::get_if<Optional>(&value.is))
    return optional->item == nullptr || is_outside(*optional->item, own);
  return true;
}

Value detached(const Value& value, const PlanMemory* own) {
  if (value.is_tensor()) {
    const Tensor& held = value.tensor();
    if (own != nullptr && is_outside(value, *own)) return value;
    const bool is_text = held.type() == Type::string;
    Tensor made(held.type(), held.shape(), is_text ? Storage::values : Storage::unfilled);
    if (is_text) {
      std::copy_n(held.data<std::string>(), held.size(), made.data<std::string>());
    } else if (!held.bytes().empty()) {
      std::memcpy(made.bytes().data(), held.bytes().data(), held.bytes().size());
    }
    return made;
  }
  if (const auto* sequence = std::get_if<Sequence>(&value.is)) {
    Sequence made{sequence->inner, {}};
    for (const Value& item : sequence->items) made.items.push_back(detached(item, own));
    return made;
  }
  if (const auto* optional = std::get_if<Optional>(&value.is)) {
    Optional made{optional->inner, nullptr};
    if (optional->item) made.item = std::make_shared<const Value>(detached(*optional->item, own));
    return made;
  }
  return value;  // maps own their numbers and strings
}

}  // namespace touchstone::optimized
