// Test memory next to an inaccessible page: an access one element too far ends the test. It is
// filled with NaN, so that elements never written are visible.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include "core/placement.h"

namespace touchstone::testing {

enum class Edge { before, after };  // side on which the inaccessible page adjoins the memory

// For Edge::after, `bytes` must be a multiple of the elements' alignment, since only the end is
// aligned.
inline std::shared_ptr<void> paged(Index bytes, Edge edge) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const auto wanted = static_cast<std::size_t>(bytes);
  const std::size_t inside = (wanted + page - 1) / page * page, all = inside + 2 * page;
  void* const mapped = ::mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  auto* const base = static_cast<std::byte*>(mapped);
  std::byte* const first = base + page + (edge == Edge::after ? inside - wanted : 0);
  if (inside > 0 && ::mprotect(base + page, inside, PROT_READ | PROT_WRITE) != 0)
    throw std::bad_alloc();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t at = 0; at + sizeof nan <= wanted; at += sizeof nan)
    std::memcpy(first + at, &nan, sizeof nan);
  return {first, [base, all](void*) { ::munmap(base, all); }};
}

// Makes tensors in such memory; they must not outlive this object.
class PagedTensors {
 public:
  explicit PagedTensors(Edge edge) : edge_(edge) {}
  Tensor make(Type type, const Shape& shape) {
    pages_.push_back(paged(packed_bytes(type, count(shape)), edge_));
    return tensor_at(pages_.back().get(), type, shape);
  }
  Tensor copy(const Tensor& from) {
    Tensor made = make(from.type(), from.shape());
    if (!from.bytes().empty())
      std::memcpy(made.bytes().data(), from.bytes().data(), from.bytes().size());
    return made;
  }

 private:
  const Edge edge_;
  std::vector<std::shared_ptr<void>> pages_;
};

// Allocator of vectors that end at an inaccessible page.
template <class T>
struct PagedAllocator {
  using value_type = T;
  PagedAllocator() = default;
  template <class U>
  PagedAllocator(const PagedAllocator<U>&) {}  // NOLINT: meant to convert

  T* allocate(std::size_t count) {
    const Index bytes = static_cast<Index>(count * sizeof(T));
    const std::shared_ptr<void> memory = paged(bytes, Edge::after);
    pages().emplace_back(memory);
    return static_cast<T*>(memory.get());
  }
  void deallocate(T* memory, std::size_t) {
    std::erase_if(pages(), [&](const std::shared_ptr<void>& each) { return each.get() == memory; });
  }
  friend bool operator==(const PagedAllocator&, const PagedAllocator&) { return true; }

 private:
  static std::vector<std::shared_ptr<void>>& pages() {
    static std::vector<std::shared_ptr<void>> all;
    return all;
  }
};
template <class T>
using Paged = std::vector<T, PagedAllocator<T>>;

}  // namespace touchstone::testing
