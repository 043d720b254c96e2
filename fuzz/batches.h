// Runs work on many numbers in child processes, so that a crash is attributed to its number and the
// rest continues.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/shape.h"

namespace touchstone::fuzz {

struct BatchOptions {
  Index batch = 50;                 // numbers per process
  unsigned seconds = 40;            // CPU time for one stage of a number
  unsigned waiting = 1200;          // wall time for it: other processes may use the processors
  Index jobs = 1;                   // processes at a time
  Index memory = 0;                 // bytes of data of a process; 0: no limit
  std::function<bool()> stop = {};  // polled ten times a second; true ends all processes
};

// Called in a child for each number; the parent receives the returned text. `enter` names the stage
// that begins, so that a death is attributed to it.
using Enter = std::function<void(std::string_view stage)>;
using Work = std::function<std::string(Index number, const Enter& enter)>;

struct Ended {
  Index number = 0;
  std::string text;
  // Describes how the child ended while it worked on the number, with the end of its stderr; "" if
  // it did not.
  std::string died = {};
  std::string stage = {};  // the last stage that a number without a text entered
};
using OnEnd = std::function<void(const Ended& ended)>;

// Calls `on_end` once per number, in no particular order if there are several jobs. Returns false
// if it was stopped; numbers that were not reported by then have no result. The caller has one
// thread.
bool in_batches(Index first, Index count, const BatchOptions& options, const Work& work,
                const OnEnd& on_end);

}  // namespace touchstone::fuzz
