// Generates test data in regimes, since each regime exposes different faults. An element is a
// function of (case, port, element) alone and is computed from integers. So a line has the same
// values on every machine.
#pragma once

#include <string_view>

#include "core/tensor.h"

namespace touchstone::suites {

// Names of regimes. whole: small integers; logs: log-uniform, both signs; cancel: neighbors nearly
// cancel; giant: one large number among small; special: infinities, NaN, zeros, extremes,
// subnormals among plain numbers; constant; two: of two values; real: near normal; unit: in [-1,
// 1]; size: never negative; positive: 0.25 to 2.25; above: 1 and more; far: all far from zero.
// Integers have whole, logs, special, constant, two, size; they treat all others as whole.
bool is_regime(std::string_view name);

// Fills a tensor of any type. `key` makes the data of cases and ports differ.
void fill(Tensor& tensor, std::string_view regime, std::uint64_t key);

}  // namespace touchstone::suites
