// The threads of a session. Work comes as parts that may run in any order. The threads sleep, but
// between two pieces of work of the same run they look out for the next a while
// (docs/decisions/007-threads-wait-within-a-run.md).
#pragma once

#include <chrono>
#include <memory>
#include <type_traits>
#include <vector>

#include "core/shape.h"

namespace touchstone {

// How many threads this process may keep busy: its affinity and its cgroup's quota decide.
Index threads_available();

// Into how many parts work is cut at least, so that the threads end together.
constexpr Index parts_for(Index threads) { return threads > 1 ? 4 * threads : 1; }

class ThreadPool {
 public:
  // 0: as many as are available. The caller's thread is one of them.
  explicit ThreadPool(Index threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  Index size() const;

  // While it is watched: what each thread did since it was last asked, of work that several share.
  struct Busy {
    Index thread;
    std::chrono::steady_clock::time_point begin, end;
  };
  void watch(bool watched);
  std::vector<Busy> taken();

  // While one is open, more work is about to come: the threads look out for it before they sleep.
  class Run {
   public:
    explicit Run(ThreadPool& pool);
    ~Run();
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

   private:
    ThreadPool& pool_;
  };

  // Calls work(part, thread) for every part of [0, parts), thread in [0, size()), and comes back
  // when all are done. The first exception of a part is thrown here, after the others have ended.
  // Not from inside a part.
  template <class F>
  void each(Index parts, F&& work) {
    run(parts, {&work, [](const void* f, Index part, Index thread) {
                  (*static_cast<const std::remove_reference_t<F>*>(f))(part, thread);
                }});
  }

 private:
  // A callable that stands elsewhere: nothing is allocated for it.
  struct Work {
    const void* self;
    void (*call)(const void* self, Index part, Index thread);
  };
  void run(Index parts, Work work);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace touchstone
