// Runs the cases of a suite on one target, several at a time, and judges the outputs.
#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "conformance/results.h"
#include "conformance/suites/suite.h"

namespace touchstone::conformance {

struct ConformOptions {
  // Commands, each of which starts one process. Without a worker each case's own expectation is
  // judged.
  std::vector<std::string> worker, judge;
  std::size_t together = 16;  // cases that share a worker, unless it dies
  unsigned runs = 1;          // runs per case: more than one detects nondeterminism
  Index jobs = 1;             // number of workers, each with its own judge
  std::chrono::milliseconds timeout = std::chrono::seconds(600);  // limit for a phase of a case
};

// Called as each case ends, from one thread at a time, in no particular order.
using OnResult = std::function<void(const CaseResult&)>;

// Runs the cases; results are in the order of the cases. Throws Error (cancelled) if the caller's
// budget is cancelled.
std::vector<CaseResult> conform(std::span<const suites::Case> cases, const ConformOptions& options,
                                const OnResult& on_result);

// Returns the number of processors that this process may use.
Index usable_processors();

}  // namespace touchstone::conformance
