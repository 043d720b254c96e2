// Memory for data read sequentially once per run: packed weights and the arena. From huge pages,
// where the system provides them, reads are 1.5 times as fast.
#pragma once

#include <sys/mman.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "core/budget.h"
#include "core/error.h"
#include "core/shape.h"

namespace touchstone::optimized {

struct FreeMemory {
  Charge charge = {};
  void operator()(float* memory) const { std::free(memory); }
};
using LargeMemory = std::unique_ptr<float, FreeMemory>;

// Returns uninitialized memory. Throws Error (out_of_memory, limit).
inline LargeMemory large_memory(Index floats) {
  constexpr std::size_t page = std::size_t{2} << 20, line = 64;
  const std::size_t wanted = static_cast<std::size_t>(floats) * sizeof(float) + line;
  const std::size_t unit = wanted >= page ? page : line;
  const std::size_t bytes = (wanted + unit - 1) / unit * unit;
  Charge charge(static_cast<Index>(bytes));
  LargeMemory made(static_cast<float*>(std::aligned_alloc(unit, bytes)),
                   FreeMemory{std::move(charge)});
  if (!made) {
    throw Error(ErrorKind::out_of_memory, "no memory for " + std::to_string(bytes) + " bytes");
  }
  if (unit == page) ::madvise(made.get(), bytes, MADV_HUGEPAGE);  // only a hint; may fail
  return made;
}

}  // namespace touchstone::optimized
