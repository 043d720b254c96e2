// Trips of loops: a body runs on its plans, carried values are moved from trip to trip, and the
// other outputs are appended to one buffer each.
#pragma once

#include <functional>

#include "optimized/lowering/bodies.h"
#include "reference/call.h"

namespace touchstone::optimized {

// Runs the body once more on its feeds.
using RunBody = std::function<void(std::vector<Value>& outputs)>;

template <class T>
T one_element(const Value& value, Type type) {
  const auto* const tensor = std::get_if<Tensor>(&value.is);
  if (tensor == nullptr || tensor->size() != 1 || tensor->type() != type) throw BodyFailed{};
  return *tensor->data<T>();
}

// Fill the call's outputs, as the reference kernels of the operators do. Return false, without side
// effects, for a version that they do not run.
bool run_loop(Call& call, BodyPlans& body, const RunBody& run);
bool run_scan(Call& call, BodyPlans& body, const RunBody& run);

}  // namespace touchstone::optimized
