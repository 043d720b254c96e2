// Process that starts the workers of a target by fork, in milliseconds: it alone imports the
// runtime, and runs no case (conformance/targets/starter.py).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "conformance/targets/child.h"

namespace touchstone::targets {

class Starter {
 public:
  struct Started {
    pid_t process;
    // Socket that receives the status of waitpid() after the end. Shutting down our half, or the
    // death of all processes that hold it, kills the worker.
    int end;
  };

  // Starts a command that reads requests on its standard input.
  explicit Starter(const std::vector<std::string>& command) : child_(command) {}

  // Starts a worker whose standard streams are these. Threads and forked processes may share the
  // starter. Returns nothing if it has ended.
  std::optional<Started> start(int streams, int printed) const;

 private:
  Child child_;
};

// Receives four bytes. Returns false after so long, or if no more can come.
bool receive_number(int socket, int& number, std::chrono::milliseconds limit);

}  // namespace touchstone::targets
