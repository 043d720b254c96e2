// Limits of a command: --limits, --deadline, --memory-limit; and Ctrl-C, which stops it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "core/budget.h"

namespace touchstone::command {

struct LimitArgs {
  std::string preset = "trusted", deadline, memory;

  Limits limits() const;  // throws Error (usage)
};
void add_limits(CLI::App& command, LimitArgs& args);

// Converts "10s", "500ms", "2m" to milliseconds, and "2G", "512M", "64K", "1000" to bytes. Throws
// Error (usage).
Index milliseconds_of(const std::string& text);
Index bytes_of(const std::string& text);

// Installs the budget of a command, which also covers reading files and models. During its lifetime
// the first Ctrl-C cancels; one more than a second after it ends the process, also later.
class CommandBudget {
 public:
  explicit CommandBudget(const Limits& limits);
  CommandBudget(const CommandBudget&) = delete;
  CommandBudget& operator=(const CommandBudget&) = delete;

 private:
  struct Handler {
    Handler();
    ~Handler();
  };
  const Handler handler_;
  const Budget budget_;
};

bool is_cancelled();  // true if this thread's budget is: after Ctrl-C

}  // namespace touchstone::command
