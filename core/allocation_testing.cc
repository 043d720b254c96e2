// Replaces malloc by functions that count, and that can fail.
#include "core/allocation_testing.h"

#include <cerrno>
#include <cstdlib>

namespace touchstone::testing {

std::atomic<Index> allocations{0};
std::atomic<Index> failing{-1};

}  // namespace touchstone::testing

namespace {

using touchstone::testing::allocations, touchstone::testing::failing;

bool fails() {
  if (++allocations != failing) return false;
  errno = ENOMEM;
  return true;
}

}  // namespace

extern "C" {
// glibc's own functions, under the names that it reserves for programs that replace malloc.
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* memory, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);

void* malloc(std::size_t bytes) { return fails() ? nullptr : __libc_malloc(bytes); }
void* calloc(std::size_t count, std::size_t bytes) {
  return fails() ? nullptr : __libc_calloc(count, bytes);
}
void* realloc(void* memory, std::size_t bytes) {
  return fails() ? nullptr : __libc_realloc(memory, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return fails() ? nullptr : __libc_memalign(alignment, bytes);
}
}
