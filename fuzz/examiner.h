// Examines single cases in a process of their own, so that a crash or a hang is an outcome.
#pragma once

#include <functional>

#include "fuzz/examine.h"

namespace touchstone::fuzz {

struct ExaminerOptions {
  unsigned seconds = 20, waiting = 60;  // CPU and wall time of one case
  Index memory = Index{3} << 30;        // bytes of data of a process; 0: no limit
};

class Examiner {
 public:
  Examiner(MakeRunner make_runner, const ExaminerOptions& options)
      : make_runner_(std::move(make_runner)), options_(options) {}

  Outcome operator()(const Case& one);

  // Runs any work in a process of its own and returns its text. A death is an Error (internal).
  std::string apart(const std::function<std::string()>& work) const;

 private:
  MakeRunner make_runner_;
  ExaminerOptions options_;
  // Children use it after a fork: a worker process of a target serves them all, one at a time.
  std::unique_ptr<Runner> runner_;
};

}  // namespace touchstone::fuzz
