// Our own runtimes as the bench sees them: the targets that are judged, and how each runs.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "conformance/targets/target.h"

namespace touchstone {

struct OurRuntime {
  std::string name;
  // `dims`: sizes of symbols in the shapes of inputs, as peers are told them too.
  std::unique_ptr<Target> (*make)(Index threads, const std::map<std::string, Index>& dims);
  std::string (*settings)();  // in words
};

// The best first.
const std::vector<OurRuntime>& our_runtimes();

// Answers the bench on standard input until it is gone: the child of `touchstone bench`. Throws
// Error (usage) if there is no such runtime.
void serve_bench(const std::string& runtime);

}  // namespace touchstone
