// Work on many numbers in child processes, so that what kills one is found out and the rest goes
// on.
#pragma once

#include <functional>
#include <string>

#include "core/shape.h"

namespace touchstone::mutation {

struct BatchOptions {
  Index batch = 50;       // numbers a process
  unsigned seconds = 40;  // of computing, that one number may take: four runs of ten
};

// Called in a child for each number. The text comes back.
using Work = std::function<std::string(Index number)>;
// `died`: how the child ended while it worked on the number, with the end of what it wrote to
// stderr. "": it did not.
using OnEnd = std::function<void(Index number, const std::string& text, const std::string& died)>;

void in_batches(Index first, Index count, const BatchOptions& options, const Work& work,
                const OnEnd& on_end);

}  // namespace touchstone::mutation
