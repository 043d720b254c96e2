// Holds the runs of a session apart. A child of fork() has one thread, so that a lock which another
// thread held at that moment is never given back there: it is refused, not waited for.
#pragma once

#include <unistd.h>

#include <atomic>

#include "core/error.h"

namespace touchstone {

class RunLock {
 public:
  void lock() {
    const int own = ::getpid();  // never `free`
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
