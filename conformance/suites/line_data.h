// Data of cases in regimes, since each hides what the others show. An element is a function of
// (case, port, element) alone, and comes from integers, so that a line means the same values on
// every machine.
#pragma once

#include <string_view>

#include "core/tensor.h"

namespace touchstone {

// whole: small integers; logs: log-uniform, both signs; cancel: neighbours all but cancel; giant:
// one big among small; special: infinities, NaN, zeros, extremes, subnormals among plain numbers;
// constant; two: of two values; real: near normal; unit: in
// [-1, 1]; size: never negative; positive: 0.25 to 2.25; above: 1 and more; far: all far from zero.
// Integers have whole, logs, special, constant, two, size; the other regimes are whole to them.
bool is_regime(std::string_view name);

// Fills a tensor of any type. `key` tells cases and ports apart.
void fill(Tensor& tensor, std::string_view regime, std::uint64_t key);

}  // namespace touchstone
