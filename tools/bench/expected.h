// What the reference gives, which every timed output is held to.
#pragma once

#include "tools/bench/measure.h"

namespace touchstone {

// The reference's outputs on each set of inputs and on `race.moved`, which is the last, from
// processes of its own beside each other. It is
// slow, so what it gave is kept in `folder` (if that is named) under the model's and the inputs'
// bytes and this version, and found there the next time. Throws Fallen.
std::vector<Outputs> expectations(const Race& race, const BenchPlan& plan, const std::string& self,
                                  const std::filesystem::path& folder);

}  // namespace touchstone
