// Implements the thread pool: threads wait for a round of work and take its parts one by one.
#include "optimized/threads/pool.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <mutex>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include "core/budget.h"
#include "core/error.h"
#include "core/proc.h"

namespace touchstone::optimized {
namespace {

// Returns the CPU quota of the cgroup in whole processors, 0 if there is none. The file holds "max
// 100000" or "150000 100000": microseconds of processor time, and of the period.
Index quota() {
  std::string text;
  try {
    text = read_proc("/sys/fs/cgroup/cpu.max");
  } catch (const Error&) {
    return 0;  // no cgroup
  }
  std::istringstream words(text);
  double max = 0, period = 0;
  if (!(words >> max >> period) || period <= 0) return 0;  // no quota
  return std::max<Index>(1, static_cast<Index>(max / period + 0.5));
}

}  // namespace

Index threads_available() {
  cpu_set_t set;
  CPU_ZERO(&set);
  Index threads = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  if (const Index max = quota(); max > 0) threads = std::min(threads, max);
  return std::max<Index>(threads, 1);
}

namespace {

using Clock = std::chrono::steady_clock;

// Time that a thread spins before it sleeps: several times the cost of waking one.
constexpr std::chrono::microseconds patience(100);

// Yields the core to its sibling hyper-thread.
void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Spins until `done` is true. Returns false if patience ran out and the thread should sleep.
template <class F>
bool look_out(F&& done) {
  // Polls per clock reading, since reading the clock takes longer than a poll.
  constexpr int looks_a_reading = 64;
  for (const auto until = Clock::now() + patience;;) {
    for (int k = 0; k < looks_a_reading; ++k) {
      if (done()) return true;
      pause();
    }
    if (Clock::now() > until) return false;
  }
}

}  // namespace

// A call of run is one or more rounds. Each thread owns a contiguous share of the parts, so that
// from round to round it finds the data that it wrote in its cache. It takes its own parts from the
// front, then the rest of the others' shares from the back. A thread that wakes late finds no part,
// and no thread waits for it.
struct ThreadPool::State {
  // Untaken parts of a thread and their round, in one atomic word. A thread that takes a part
  // thereby knows that the round has not ended; it cannot end before the part is done.
  struct Share {
    std::uint32_t round;
    std::uint16_t next, end;
  };
  static_assert(std::atomic<Share>::is_always_lock_free);
  static constexpr Index max_in_share = std::numeric_limits<std::uint16_t>::max();
  struct alignas(64) Own {
    std::atomic<Share> share{Share{}};
  };

  std::vector<Own> own;  // by thread
  alignas(64) std::atomic<std::uint32_t> round{0};
  std::atomic<std::uint32_t> calls{0};               // incremented to wake the threads
  alignas(64) std::atomic<std::uint32_t> undone{0};  // unfinished parts of the round
  alignas(64) std::atomic<Index> runs{0};            // number of open Run objects
  std::atomic<bool> stop{false};
  Work work{};
  Budget* budget = nullptr;    // budget of the caller
  Index first = 0, share = 0;  // first part of the round; parts per thread
  std::mutex mutex;            // guards `thrown`
  std::exception_ptr thrown;
  Executor executor;
  bool watched = false;
  std::vector<Busy> busy_in_round, busy_times;  // by thread; of all rounds
  std::vector<std::thread> threads;

  explicit State(std::size_t count) : own(count) { threads.reserve(count - 1); }

  void begin(std::uint32_t number, Index parts) {
    const Index count = static_cast<Index>(own.size());
    share = (parts + count - 1) / count;
    undone.store(static_cast<std::uint32_t>(parts), std::memory_order_relaxed);
    for (Index k = 0; k < count; ++k) {
      const Index left = std::clamp<Index>(parts - k * share, 0, share);
      own[static_cast<std::size_t>(k)].share.store({number, 0, static_cast<std::uint16_t>(left)},
                                                   std::memory_order_release);
    }
    round.store(number, std::memory_order_release);
    call();
  }

  void call() {
    calls.fetch_add(1, std::memory_order_acq_rel);
    calls.notify_all();
  }

  void take_parts(Index thread, std::uint32_t number) {
    const Index count = static_cast<Index>(own.size());
    for (Index k = 0; k < count; ++k) take_of((thread + k) % count, thread, number);
  }

  void take_of(Index owner, Index thread, std::uint32_t number) {
    std::atomic<Share>& held = own[static_cast<std::size_t>(owner)].share;
    Share seen = held.load(std::memory_order_acquire);
    while (seen.round == number && seen.next < seen.end) {
      Share left = seen;
      const Index part = owner == thread ? left.next++ : --left.end;
      if (!held.compare_exchange_weak(seen, left, std::memory_order_acq_rel)) continue;
      do_part(first + owner * share + part, thread);
      if (undone.fetch_sub(1, std::memory_order_acq_rel) == 1) undone.notify_one();
      seen = held.load(std::memory_order_acquire);
    }
  }

  void do_part(Index part, Index thread) {
    const auto began = watched ? Clock::now() : Clock::time_point();
    try {
      const BudgetScope scope(budget);
      if (budget) check_budget();
      work.call(work.self, part, thread);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!thrown) thrown = std::current_exception();
    }
    if (!watched) return;
    Busy& busy = busy_in_round[static_cast<std::size_t>(thread)];
    if (busy.thread < 0) busy = {thread, began, began};
    busy.end = Clock::now();
  }

  void end() {
    stop = true;
    round.fetch_add(1, std::memory_order_acq_rel);  // a round without parts
    call();
    for (std::thread& thread : threads) thread.join();
  }

  void live(Index thread) {
    std::uint32_t seen = 0;
    const auto begun = [&] { return round.load(std::memory_order_acquire) != seen; };
    const auto idle = [&] { return runs.load(std::memory_order_relaxed) == 0; };
    for (;;) {
      while (true) {
        const std::uint32_t heard = calls.load(std::memory_order_acquire);
        if (begun()) break;
        if (idle() || !look_out([&] { return begun() || idle(); }))
          calls.wait(heard, std::memory_order_acquire);
      }
      // The flag is set before the last round begins, so it is read after the round: else a thread
      // could take the last round for work, and wait for another one forever.
      seen = round.load(std::memory_order_acquire);
      if (stop) return;
      take_parts(thread, seen);
    }
  }
};

ThreadPool::ThreadPool(Index threads, bool helped, Executor executor) {
  const Index count = threads > 0 ? threads : threads_available();
  try {
    state_ = std::make_unique<State>(static_cast<std::size_t>(count));
    if (helped) state_->executor = executor;
    const bool own_threads = helped && executor.run == nullptr;
    for (Index k = 1; own_threads && k < count; ++k)
      state_->threads.emplace_back([state = state_.get(), k] { state->live(k); });
  } catch (const std::exception& error) {
    const std::size_t made = state_ ? state_->threads.size() : 0;
    if (state_) state_->end();
    throw Error(ErrorKind::out_of_memory, "of " + std::to_string(count - 1) +
                                              " threads beside the caller's the system gave " +
                                              std::to_string(made) + ": " + error.what());
  }
}

ThreadPool::~ThreadPool() { state_->end(); }

// Must be called between two calls of `each`, when no thread reads the flag.
void ThreadPool::watch(bool watched) {
  state_->watched = watched;
  state_->busy_times.clear();
  state_->busy_in_round.clear();
}

std::vector<ThreadPool::Busy> ThreadPool::taken() { return std::exchange(state_->busy_times, {}); }

Index ThreadPool::size() const { return static_cast<Index>(state_->own.size()); }

// The threads wake while the caller prepares the work.
ThreadPool::Run::Run(ThreadPool& pool, bool wakes) : pool_(pool) {
  ++pool_.state_->runs;
  if (wakes && !pool_.state_->threads.empty()) pool_.state_->call();
}
ThreadPool::Run::~Run() { --pool_.state_->runs; }

void ThreadPool::run(Index parts, Work work) {
  State& s = *state_;
  if (s.executor.run != nullptr && parts > 1 && size() > 1) return run_outside(parts, work);
  if (s.threads.empty() || parts <= 1) {
    for (Index part = 0; part < parts; ++part) {
      if (current_budget()) check_budget();
      work.call(work.self, part, 0);
    }
    return;
  }
  constexpr Busy never{-1, {}, {}};
  if (s.watched) s.busy_in_round.assign(s.threads.size() + 1, never);
  const Index max = size() * State::max_in_share;
  for (s.first = 0; s.first < parts; s.first += max) {
    const std::uint32_t round = s.round.load(std::memory_order_relaxed) + 1;
    s.work = work;
    s.budget = current_budget();
    s.begin(round, std::min(parts - s.first, max));
    s.take_parts(0, round);
    const auto ended = [&] { return s.undone.load(std::memory_order_acquire) == 0; };
    while (!ended() && !look_out(ended)) {
      const std::uint32_t undone = s.undone.load(std::memory_order_acquire);
      if (undone > 0) s.undone.wait(undone);
    }
  }
  for (const Busy& busy : s.busy_in_round) {
    if (busy.thread >= 0) s.busy_times.push_back(busy);
  }
  if (s.thrown) std::rethrow_exception(std::exchange(s.thrown, nullptr));
}

namespace {

// Parts of one call that the executor's threads take. Numbers threads itself, in the order in which
// they come, so that no two have the same scratch buffers.
struct Shared {
  const Index parts, threads;
  std::function<void(Index part, Index thread)> work;
  Budget* const budget;
  std::atomic<Index> next{0}, came{0};
  std::mutex mutex = {};  // guards `thrown`
  std::exception_ptr thrown = {};

  void take_parts(Index thread) {
    const BudgetScope scope(budget);
    for (Index part = next++; part < parts; part = next++) {
      try {
        if (budget) check_budget();
        work(part, thread);
      } catch (...) {
        next = parts;
        const std::lock_guard lock(mutex);
        if (!thrown) thrown = std::current_exception();
      }
    }
  }
};

}  // namespace

void ThreadPool::run_outside(Index parts, Work work) {
  Shared shared{parts, size(), {}, current_budget()};
  shared.work = [&work](Index part, Index thread) { work.call(work.self, part, thread); };
  const auto task = [](void* context, std::size_t) {
    auto& all = *static_cast<Shared*>(context);
    if (const Index thread = all.came++; thread < all.threads) all.take_parts(thread);
  };
  state_->executor.run(state_->executor.user, static_cast<std::size_t>(std::min(parts, size())),
                       task, &shared);
  shared.take_parts(0);  // what the executor left out, after all its calls
  if (shared.thrown) std::rethrow_exception(shared.thrown);
}

}  // namespace touchstone::optimized
