// Mutex of what one run at a time uses, which survives fork(). The child has one thread, so a lock
// held by another thread at that moment is never released there: both ways to lock throw Error
// (usage) instead of waiting.
#pragma once

#include <atomic>

#include "core/error.h"
#include "core/forks.h"

namespace touchstone::optimized {

class RunLock {
 public:
  RunLock() { forks(); }  // counts from here on
  void lock() {
    while (!try_lock()) state_.wait(forks() + 1, std::memory_order_relaxed);
  }
  bool try_lock() {
    const std::uint32_t own = forks() + 1;
    std::uint32_t seen = free;
    if (state_.compare_exchange_strong(seen, own, std::memory_order_acquire)) return true;
    if (seen != own) {
      throw Error(ErrorKind::usage,
                  "the process was forked while another thread ran this session, which cannot "
                  "run in the child")
          .with_help("make a session in the child, or fork while none runs");
    }
    return false;
  }
  void unlock() {
    state_.store(free, std::memory_order_release);
    state_.notify_one();
  }

 private:
  static constexpr std::uint32_t free = 0;

  std::atomic<std::uint32_t> state_{free};
};

}  // namespace touchstone::optimized
