// Mutex that keeps the runs of a session apart and survives fork(). The child has one thread, so a
// lock held by another thread at that moment is never released there: lock() throws Error (usage)
// instead of waiting.
#pragma once

#include <unistd.h>

#include <atomic>

#include "core/error.h"

namespace touchstone {

class RunLock {
 public:
  void lock() {
    const int own = ::getpid();  // never equal to `free`
    for (int seen = free;;) {
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
  static constexpr int free = 0;

  std::atomic<int> state_{free};
};

}  // namespace touchstone
