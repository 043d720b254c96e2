// Reserve of resident memory. The host of a virtual machine may reclaim unused memory, and the next
// process to touch it waits for the host: up to two seconds per gigabyte were measured, ten times
// the duration of a load. So the bench holds as much touched memory as a load may need, and frees
// it when the load begins: all runtimes have the same conditions.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string>

#include "core/proc.h"
#include "core/shape.h"

namespace touchstone::bench {

class ReadyMemory {
 public:
  // Size in bytes; at most a quarter of the available memory is held.
  explicit ReadyMemory(Index bytes)
      : bytes_(static_cast<std::size_t>(std::min(bytes, available() / 4))) {}
  ~ReadyMemory() { give_back(); }
  ReadyMemory(const ReadyMemory&) = delete;
  ReadyMemory& operator=(const ReadyMemory&) = delete;

  // Touches every page. If the memory cannot be allocated, nothing is held, which is no error.
  void take() {
    if (memory_ != nullptr || bytes_ == 0) return;
    constexpr int access = PROT_READ | PROT_WRITE, kind = MAP_PRIVATE | MAP_ANONYMOUS;
    void* const made = ::mmap(nullptr, bytes_, access, kind, -1, 0);
    if (made == MAP_FAILED) return;
    ::madvise(made, bytes_, MADV_HUGEPAGE);  // best effort
    memory_ = static_cast<volatile std::byte*>(made);
    constexpr std::size_t page = 4096;
    for (std::size_t at = 0; at < bytes_; at += page) memory_[at] = std::byte{1};
  }

  void give_back() {
    if (memory_ != nullptr) ::munmap(const_cast<std::byte*>(memory_), bytes_);
    memory_ = nullptr;
  }

 private:
  static Index available() {
    const std::string text = read_proc("/proc/meminfo"), line = "MemAvailable:";
    const std::size_t at = text.find(line);
    if (at == std::string::npos) return 0;
    const std::size_t digit = text.find_first_of("0123456789", at);
    Index kilobytes = 0;
    std::from_chars(text.data() + digit, text.data() + text.size(), kilobytes);
    return kilobytes * 1024;
  }

  const std::size_t bytes_;
  volatile std::byte* memory_ = nullptr;
};

}  // namespace touchstone::bench
