// Parses limits of time and memory, and handles Ctrl-C.
#include "tools/touchstone/limits.h"

#include <array>
#include <cmath>
#include <csignal>
#include <ctime>
#include <span>

#include "core/error.h"

namespace touchstone::command {
namespace {

std::atomic<bool> interrupted{false};
std::atomic<Index> interrupted_at{0};
constexpr Index one_press = 1000;  // milliseconds

Index milliseconds_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<Index>(now.tv_sec) * 1000 + static_cast<Index>(now.tv_nsec) / 1'000'000;
}

// Takes signals within a second as one: a terminal and a parent process may both send it.
void interrupt(int) {
  const Index now = milliseconds_now();
  Index first = 0;
  if (interrupted_at.compare_exchange_strong(first, now)) {
    interrupted = true;
  } else if (now - first > one_press) {
    std::signal(SIGINT, SIG_DFL);
    raise(SIGINT);
  }
}
static_assert(std::atomic<bool>::is_always_lock_free);

struct Unit {
  const char* name;
  double worth;
};

// Parses a number followed by one of the units.
Index amount(const std::string& text, std::span<const Unit> units, const std::string& wanted) {
  std::size_t length = 0;
  double number = 0;
  try {
    number = std::stod(text, &length);
  } catch (const std::exception&) {
    length = std::string::npos;
  }
  for (const Unit& unit : units) {
    if (length == std::string::npos || text.substr(length) != unit.name) continue;
    const double all = std::ceil(number * unit.worth);
    if (all >= 1 && all < 9e18) return static_cast<Index>(all);
  }
  throw Error(ErrorKind::usage, "'" + text + "' is not " + wanted);
}

}  // namespace

Index milliseconds_of(const std::string& text) {
  static constexpr std::array units{Unit{"ms", 1}, Unit{"s", 1e3}, Unit{"", 1e3}, Unit{"m", 6e4},
                                    Unit{"h", 3.6e6}};
  return amount(text, units, "a time above 0 such as 10s, 500ms, 2m or 1h");
}

Index bytes_of(const std::string& text) {
  static constexpr std::array units{Unit{"", 1}, Unit{"K", 0x1p10}, Unit{"M", 0x1p20},
                                    Unit{"G", 0x1p30}, Unit{"T", 0x1p40}};
  return amount(text, units, "a number of bytes above 0 such as 512M or 2G");
}

Limits LimitArgs::limits() const {
  Limits limits = preset == "untrusted" ? Limits::untrusted() : Limits::trusted();
  if (!deadline.empty()) limits.milliseconds = milliseconds_of(deadline);
  if (!memory.empty()) limits.memory = bytes_of(memory);
  return limits;
}

void add_limits(CLI::App& command, LimitArgs& args) {
  command.add_option("--limits", args.preset, "What the model may request for (docs/limits.md)")
      ->check(CLI::IsMember({"trusted", "untrusted"}))
      ->capture_default_str();
  command
      .add_option("--deadline", args.deadline, "The time that all of it may take: 10s, 500ms, 2m")
      ->type_name("TIME");
  command
      .add_option("--memory-limit", args.memory, "The bytes that may be in use at once: 512M, 2G")
      ->type_name("BYTES");
}

CommandBudget::Handler::Handler() {
  interrupted = false;
  interrupted_at = 0;
  struct sigaction action {};
  action.sa_handler = interrupt;
  sigaction(SIGINT, &action, nullptr);
}
// After Ctrl-C the handler stays, so that another one cannot take the exit code from a command that
// is about to end.
CommandBudget::Handler::~Handler() {
  if (!interrupted) std::signal(SIGINT, SIG_DFL);
}

CommandBudget::CommandBudget(const Limits& limits)
    : budget_(limits, Cancel{.flag = &interrupted}) {}

bool is_cancelled() {
  try {
    check_budget();
  } catch (const Error& error) {
    return error.kind == ErrorKind::cancelled;
  }
  return false;
}

}  // namespace touchstone::command
