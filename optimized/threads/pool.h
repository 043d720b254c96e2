// Thread pool of a session. Work is split into parts that may run in any order. Idle threads sleep;
// between two pieces of work of one run they spin for a while
// (docs/decisions/007-threads-wait-within-a-run.md).
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

#include "core/shape.h"

namespace touchstone::optimized {

// Returns the number of threads that this process may keep busy, limited by its CPU affinity and
// its cgroup's quota.
Index threads_available();

// Returns the least number of parts to split work into, so that the threads finish at about the
// same time.
constexpr Index parts_for(Index threads) { return threads > 1 ? 4 * threads : 1; }

// A program's own threads, for use in place of a pool's.
struct Executor {
  // Calls task(context, k) for each k in [0, count), on any threads, and returns when all calls
  // have. May be called from several threads at once.
  void (*run)(void* user, std::size_t count, void (*task)(void* context, std::size_t k),
              void* context) = nullptr;
  void* user = nullptr;
};

class ThreadPool {
 public:
  // 0: as many as are available. The caller's thread counts as one. `helped` false: work is divided
  // as for that many threads, so that results are the same, but the caller's thread does it all.
  // `executor`, if it has a function, stands for the pool's own threads.
  explicit ThreadPool(Index threads, bool helped = true, Executor executor = {});
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  Index size() const;

  // Time that each thread spent in one parallel call. Recorded while watching is on; taken()
  // returns and clears the records.
  struct Busy {
    Index thread;
    std::chrono::steady_clock::time_point begin, end;
  };
  void watch(bool watched);
  std::vector<Busy> taken();

  // While a Run is open, more work is expected: idle threads spin before they sleep. `wakes`: wakes
  // them at once; otherwise the first work for them does.
  class Run {
   public:
    Run(ThreadPool& pool, bool wakes);
    ~Run();
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

   private:
    ThreadPool& pool_;
  };

  // Calls work(part, thread) for every part of [0, parts), with thread in [0, size()); returns when
  // all are done. Rethrows the first exception of a part after the others have ended. Must not be
  // called from inside a part.
  template <class F>
  void each(Index parts, F&& work) {
    run(parts, {&work, [](const void* f, Index part, Index thread) {
                  (*static_cast<const std::remove_reference_t<F>*>(f))(part, thread);
                }});
  }

 private:
  // Non-owning reference to a callable, so that nothing is allocated.
  struct Work {
    const void* self;
    void (*call)(const void* self, Index part, Index thread);
  };
  void run(Index parts, Work work);
  void run_outside(Index parts, Work work);  // on the executor

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace touchstone::optimized
