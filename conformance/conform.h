// Runs the cases of a suite on one target, several at a time, and judges what comes out.
#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "conformance/results.h"
#include "conformance/suites/suite.h"

namespace touchstone {

struct ConformOptions {
  std::vector<std::string> worker,
      judge;  // commands: each starts one process; no worker: each case's own expectation is judged
  std::size_t together = 16;  // cases that share a worker, unless it dies
  unsigned runs = 1;          // of each case: more than one finds what differs between them
  Index jobs = 1;             // so many workers, each with a judge beside it
  std::chrono::milliseconds timeout = std::chrono::seconds(600);  // a phase of a case
};

// Called as each case ends, from one thread at a time, in no order.
using OnResult = std::function<void(const CaseResult&)>;

// Results in the order of the cases, however they were shared out. Throws Error (cancelled) where
// the caller's budget is.
std::vector<CaseResult> conform(std::span<const Case> cases, const ConformOptions& options,
                                const OnResult& on_result);

// Processors that this process may use.
Index usable_processors();

}  // namespace touchstone
