// Counts the allocations of a test program and can make one fail. Programs that link
// allocation_testing.cc replace malloc, also for the shared libraries that they load.
#pragma once

#include <atomic>

#include "core/shape.h"

namespace touchstone::testing {

extern std::atomic<Index> allocations;  // so far
extern std::atomic<Index> failing;      // number of the allocation that fails; -1: none

// Returns the number of allocations that `work` makes.
template <class F>
Index counted(F work) {
  const Index before = allocations;
  work();
  return allocations - before;
}

}  // namespace touchstone::testing
