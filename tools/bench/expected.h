// Outputs of the reference, with which every timed output is compared.
#pragma once

#include "tools/bench/measure.h"

namespace touchstone::bench {

// Returns the reference's outputs on each set of inputs and, last, on `benchmark.moved`, each
// computed in a process of its own. The reference is slow, so `folder` (if not empty) caches them
// by the bytes of model and inputs and by this version. Throws RuntimeFailure.
std::vector<Outputs> expectations(const BenchmarkRun& benchmark, const BenchPlan& plan,
                                  const std::string& self, const std::filesystem::path& folder);

}  // namespace touchstone::bench
