// Mutex that keeps the runs of a session apart and survives fork(). The child has one thread, so a
// lock held by another thread at that moment is never released there: lock() throws Error (usage)
// instead of waiting.
#pragma once

#include <atomic>

#include "core/error.h"
#include "core/forks.h"

namespace touchstone {

class RunLock {
 public:
  RunLock() { forks(); }  // counts from here on
  void lock() {
    const std::uint32_t own = forks() + 1;
    for (std::uint32_t seen = free;;) {
      if (state_.compare_exchange_weak(seen, own, std::memory_order_acquire)) return;
      if (seen != free && seen != own) {
        throw Error(ErrorKind::usage,
                    "the process was forked while another thread ran this session, which cannot "
                    "run in the child")
            .with_help("make a session in the child, or fork while none runs");
      }
      if (seen == own) state_.wait(seen, std::memory_order_relaxed);
      seen = free;
    }
  }
  void unlock() {
    state_.store(free, std::memory_order_release);
    state_.notify_one();
  }

 private:
  static constexpr std::uint32_t free = 0;

  std::atomic<std::uint32_t> state_{free};
};

}  // namespace touchstone
