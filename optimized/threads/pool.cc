// Threads wait for a new round of work and take its parts one by one.
#include "optimized/threads/pool.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/proc.h"

namespace touchstone {
namespace {

// "max 100000" or "150000 100000": microseconds of processor time in each period.
Index quota() {
  std::string text;
  try {
    text = read_proc("/sys/fs/cgroup/cpu.max");
  } catch (const Error&) {
    return 0;  // no cgroup
  }
  std::istringstream words(text);
  double most = 0, period = 0;
  if (!(words >> most >> period) || period <= 0) return 0;  // no quota
  return std::max<Index>(1, static_cast<Index>(most / period + 0.5));
}

}  // namespace

Index threads_available() {
  cpu_set_t set;
  CPU_ZERO(&set);
  Index threads = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  if (const Index most = quota(); most > 0) threads = std::min(threads, most);
  return std::max<Index>(threads, 1);
}

struct ThreadPool::State {
  std::mutex mutex;
  std::condition_variable wake, done;
  Work work{};
  Index parts = 0;
  std::uint64_t round = 0;  // of work; a thread that sees a new one takes part
  Index busy = 0;           // threads that have not finished the round
  bool stop = false;
  std::atomic<Index> next{0};
  std::exception_ptr thrown;
  bool watched = false;
  std::vector<Busy> busy_times;
  std::vector<std::thread> threads;

  void take_parts(Index thread) {
    if (!watched) {
      take_all(thread);
      return;
    }
    const auto began = std::chrono::steady_clock::now();
    if (take_all(thread) == 0) return;
    const auto ended = std::chrono::steady_clock::now();
    const std::lock_guard lock(mutex);
    busy_times.push_back({thread, began, ended});
  }

  // Returns how many it took.
  Index take_all(Index thread) {
    for (Index taken = 0;; ++taken) {
      const Index part = next.fetch_add(1, std::memory_order_relaxed);
      if (part >= parts) return taken;
      try {
        work.call(work.self, part, thread);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!thrown) thrown = std::current_exception();
      }
    }
  }

  void end() {
    {
      const std::lock_guard lock(mutex);
      stop = true;
    }
    wake.notify_all();
    for (std::thread& thread : threads) thread.join();
  }

  void live(Index thread) {
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex);
    for (;;) {
      wake.wait(lock, [&] { return stop || round != seen; });
      if (stop) return;
      seen = round;
      lock.unlock();
      take_parts(thread);
      lock.lock();
      if (--busy == 0) done.notify_one();
    }
  }
};

ThreadPool::ThreadPool(Index threads) : state_(std::make_unique<State>()) {
  const Index count = threads > 0 ? threads : threads_available();
  try {
    state_->threads.reserve(static_cast<std::size_t>(count - 1));
    for (Index k = 1; k < count; ++k)
      state_->threads.emplace_back([state = state_.get(), k] { state->live(k); });
  } catch (const std::exception& error) {
    const auto made = state_->threads.size();
    state_->end();
    throw Error(ErrorKind::out_of_memory, "of " + std::to_string(count - 1) +
                                              " threads beside the caller's the system gave " +
                                              std::to_string(made) + ": " + error.what());
  }
}

ThreadPool::~ThreadPool() { state_->end(); }

// Between two pieces of work: no thread looks at it then.
void ThreadPool::watch(bool watched) {
  state_->watched = watched;
  state_->busy_times.clear();
}

std::vector<ThreadPool::Busy> ThreadPool::taken() { return std::exchange(state_->busy_times, {}); }

Index ThreadPool::size() const { return static_cast<Index>(state_->threads.size()) + 1; }

void ThreadPool::run(Index parts, Work work) {
  if (parts <= 0) return;
  State& s = *state_;
  if (s.threads.empty() || parts == 1) {
    for (Index part = 0; part < parts; ++part) work.call(work.self, part, 0);
    return;
  }
  if (s.watched) s.busy_times.reserve(s.busy_times.size() + s.threads.size() + 1);
  {
    const std::lock_guard lock(s.mutex);
    s.work = work;
    s.parts = parts;
    s.next.store(0, std::memory_order_relaxed);
    s.busy = static_cast<Index>(s.threads.size());
    ++s.round;
  }
  s.wake.notify_all();
  s.take_parts(0);
  std::unique_lock lock(s.mutex);
  s.done.wait(lock, [&] { return s.busy == 0; });
  if (s.thrown) std::rethrow_exception(std::exchange(s.thrown, nullptr));
}

}  // namespace touchstone
