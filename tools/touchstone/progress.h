// Progress of a long run: a line that is redrawn on a terminal, or a line every ten seconds
// elsewhere.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>

#include "core/shape.h"
#include "tools/touchstone/command.h"

namespace touchstone::command {

class Progress {
 public:
  Progress(std::string what, Index total) : what_(std::move(what)), total_(total) {}

  void step(std::string_view standing) {
    ++done_;
    ++counts_[std::string(standing)];
    if (Clock::now() - printed_ >=
        (terminal_ ? Clock::duration(std::chrono::milliseconds(200)) : line_pause))
      print();
  }

  // Clears the line.
  void end() {
    if (terminal_) inform("\r\x1b[K");
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::duration line_pause = std::chrono::seconds(10);

  void print() {
    printed_ = Clock::now();
    const double seconds = std::chrono::duration<double>(printed_ - began_).count();
    const double rate = seconds > 0 ? static_cast<double>(done_) / seconds : 0;
    std::string counts;
    for (const auto& [standing, count] : counts_) counts += fmt::format(", {} {}", count, standing);
    inform("{}{}: {} of {}{}, {:.0f} s, {:.1f} a second, {:.0f} s left{}",
           terminal_ ? "\r\x1b[K" : "", what_, done_, total_, counts, seconds, rate,
           rate > 0 ? static_cast<double>(total_ - done_) / rate : 0, terminal_ ? "" : "\n");
    std::fflush(stderr);
  }

  std::string what_;
  Index total_, done_ = 0;
  std::map<std::string, Index> counts_;
  bool terminal_ = isatty(STDERR_FILENO) != 0;
  Clock::time_point began_ = Clock::now(), printed_ = began_;
};

}  // namespace touchstone::command
