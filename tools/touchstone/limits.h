// What a command may use: --limits, --deadline, --memory-limit; and Ctrl-C, which stops it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "core/budget.h"

namespace touchstone {

struct LimitArgs {
  std::string preset = "trusted", deadline, memory;

  Limits limits() const;  // throws Error (usage)
};
void add_limits(CLI::App& command, LimitArgs& args);

// "10s", "500ms", "2m" as milliseconds; "2G", "512M", "64K", "1000" as bytes. Throws Error (usage).
Index milliseconds_of(const std::string& text);
Index bytes_of(const std::string& text);

// The budget of a command from here on, files and models that it reads too. While it is open, the
// first Ctrl-C cancels; the next ends the process.
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

}  // namespace touchstone
