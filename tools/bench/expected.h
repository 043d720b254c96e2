// What the reference gives, which every timed output is held to.
#pragma once

#include "tools/bench/measure.h"

namespace touchstone {

// The reference's outputs on each set of inputs and on `race.moved`, which is the last, each from a
// process of its own. The reference is slow, so `folder` (if named) keeps its outputs under the
// bytes of model and inputs and this version. Throws Fallen.
std::vector<Outputs> expectations(const Race& race, const BenchPlan& plan, const std::string& self,
                                  const std::filesystem::path& folder);

}  // namespace touchstone
