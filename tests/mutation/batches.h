// Runs work on many numbers in child processes, so that a crash is attributed to its number and the
// rest continues.
#pragma once

#include <functional>
#include <string>

#include "core/shape.h"

namespace touchstone::mutation {

struct BatchOptions {
  Index batch = 50;       // numbers per process
  unsigned seconds = 40;  // CPU time for one number: four runs of ten
};

// Called in a child for each number; the parent receives the returned text.
using Work = std::function<std::string(Index number)>;
// `died`: how the child ended while it worked on the number, with the end of its stderr; "" if it
// did not.
using OnEnd = std::function<void(Index number, const std::string& text, const std::string& died)>;

void in_batches(Index first, Index count, const BatchOptions& options, const Work& work,
                const OnEnd& on_end);

}  // namespace touchstone::mutation
