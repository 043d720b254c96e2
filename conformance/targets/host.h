// Runs jobs on a target in child processes and reports the outcome of each, even if the target
// crashes, hangs or corrupts its process.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "conformance/targets/child.h"
#include "conformance/targets/protocol.h"
#include "conformance/targets/starter.h"

namespace touchstone::targets {

class Host {
 public:
  // The command starts one worker, or the starter does. `limit` applies to each phase of each job;
  // starting has a limit of its own.
  Host(std::vector<std::string> command, std::chrono::milliseconds limit,
       std::shared_ptr<const Starter> starter = nullptr);

  // Starts a worker and requests its description. Throws Error (file) if it does not start.
  Description describe();

  // Returns one answer per job. Jobs share a process until it dies; the culprit is then found by
  // running them one by one.
  std::vector<Answer> run(std::span<const Job> batch);

  // Runs in the existing worker process. This is fast for many runs in sequence, but an earlier run
  // may have corrupted the process.
  Answer run_here(const Job& job);

 private:
  Answer run_alone(const Job& job);  // runs in a process of its own
  Answer hear_out();                 // receives phases, then the answer

  std::vector<std::string> command_;
  std::chrono::milliseconds limit_;
  std::shared_ptr<const Starter> starter_;
  std::unique_ptr<Child> child_;
};

}  // namespace touchstone::targets
