// Targets that are part of this program, by their names.
#pragma once

#include <memory>
#include <string>

#include "core/shape.h"

namespace touchstone::targets {
class Target;
}  // namespace touchstone::targets

namespace touchstone::command {

// Returns the target "reference" or "fast:isa=avx2:threads=2:level=basic:without=PASS:device=cpu";
// null for any other name. `threads`: of a name that states none, 0 for as many as the process may
// use. The first instruction set that is named holds for the process. Throws Error (usage) for a
// bad option.
std::unique_ptr<targets::Target> own_target(const std::string& name, Index threads = 0);

}  // namespace touchstone::command
