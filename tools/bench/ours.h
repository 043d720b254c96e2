// Our own runtimes in the bench: the same targets that are judged, and their settings.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "conformance/targets/target.h"

namespace touchstone::bench {

struct OurRuntime {
  std::string name;
  // `dims`: sizes of symbols in the shapes of inputs, which peers receive too.
  std::unique_ptr<targets::Target> (*make)(Index threads, const std::map<std::string, Index>& dims);
  std::string (*settings)();  // text of the settings
};

// Returns our runtimes, best first.
const std::vector<OurRuntime>& our_runtimes();

// Answers the bench on standard input until it is gone: the child process of `touchstone bench`.
// Throws Error (usage) for an unknown runtime.
void serve_bench(const std::string& runtime);

}  // namespace touchstone::bench
