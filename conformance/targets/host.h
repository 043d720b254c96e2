// Runs jobs on a target in child processes and says what became of each, whatever the target does
// to its process.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "conformance/targets/child.h"
#include "conformance/targets/protocol.h"

namespace touchstone {

class Host {
 public:
  // The command starts one worker; `limit` is for each phase of each job. A start has a limit of
  // its own.
  Host(std::vector<std::string> command, std::chrono::milliseconds limit);

  // Starts a worker and asks who it is. Throws Error (file) if it does not start.
  Description describe();

  // One answer a job. Jobs share a process until it dies; then the killer is named by running them
  // one by one.
  std::vector<Answer> run(std::span<const Job> batch);

  // In the process that there is: quick where many runs follow each other, but nobody asks whether
  // an earlier one has broken it.
  Answer run_here(const Job& job);

 private:
  Answer run_alone(const Job& job);  // in a process of its own
  Answer hear_out();                 // phases, then the answer

  std::vector<std::string> command_;
  std::chrono::milliseconds limit_;
  std::unique_ptr<Child> child_;
};

}  // namespace touchstone
