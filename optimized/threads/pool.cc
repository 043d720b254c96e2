// Threads wait for a new round of work and take its parts one by one.
#include "optimized/threads/pool.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <limits>
#include <mutex>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include "core/budget.h"
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

namespace {

using Clock = std::chrono::steady_clock;

// How long a thread looks out before it sleeps: several times what waking one takes.
constexpr std::chrono::microseconds patience(100);

// Gives the core's other thread its turn.
void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// True when `done` came true while the thread looked, false when it had better sleep.
template <class F>
bool look_out(F&& done) {
  constexpr int looks_a_reading = 64;  // of the clock, which takes longer than a look
  for (const auto until = Clock::now() + patience;;) {
    for (int k = 0; k < looks_a_reading; ++k) {
      if (done()) return true;
      pause();
    }
    if (Clock::now() > until) return false;
  }
}

}  // namespace

// A piece of work is a round. Each thread has its share of the parts, neighbours, so that from
// round to round it finds in its cache what it wrote there itself; it takes them from the front,
// then what is left of the others' from the back. A thread that wakes late finds no part, and
// nobody waits for it.
struct ThreadPool::State {
  // The parts of a thread that nobody has taken, and of which round they are, in one word: who
  // takes a part knows that its round has not ended, and it cannot before the part is done.
  struct Share {
    std::uint32_t round;
    std::uint16_t next, end;
  };
  static_assert(std::atomic<Share>::is_always_lock_free);
  static constexpr Index most_in_share = std::numeric_limits<std::uint16_t>::max();
  struct alignas(64) Own {
    std::atomic<Share> share{Share{}};
  };

  std::vector<Own> own;  // by thread
  alignas(64) std::atomic<std::uint32_t> round{0};
  std::atomic<std::uint32_t> calls{0};               // to wake up
  alignas(64) std::atomic<std::uint32_t> undone{0};  // parts of the round
  alignas(64) std::atomic<Index> runs{0};            // that are open
  std::atomic<bool> stop{false};
  Work work{};
  Budget* budget = nullptr;    // of the thread that shares the work out
  Index first = 0, share = 0;  // of the round's parts; how many of them are each thread's
  std::mutex mutex;            // of `thrown`
  std::exception_ptr thrown;
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
    round.fetch_add(1, std::memory_order_acq_rel);  // of no parts
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
      if (stop) return;
      seen = round.load(std::memory_order_acquire);
      take_parts(thread, seen);
    }
  }
};

ThreadPool::ThreadPool(Index threads) {
  const Index count = threads > 0 ? threads : threads_available();
  try {
    state_ = std::make_unique<State>(static_cast<std::size_t>(count));
    for (Index k = 1; k < count; ++k)
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

// Between two pieces of work: no thread looks at it then.
void ThreadPool::watch(bool watched) {
  state_->watched = watched;
  state_->busy_times.clear();
  state_->busy_in_round.clear();
}

std::vector<ThreadPool::Busy> ThreadPool::taken() { return std::exchange(state_->busy_times, {}); }

Index ThreadPool::size() const { return static_cast<Index>(state_->threads.size()) + 1; }

// The threads wake while the caller makes ready.
ThreadPool::Run::Run(ThreadPool& pool) : pool_(pool) {
  ++pool_.state_->runs;
  pool_.state_->call();
}
ThreadPool::Run::~Run() { --pool_.state_->runs; }

void ThreadPool::run(Index parts, Work work) {
  State& s = *state_;
  if (s.threads.empty() || parts <= 1) {
    for (Index part = 0; part < parts; ++part) {
      if (current_budget()) check_budget();
      work.call(work.self, part, 0);
    }
    return;
  }
  constexpr Busy never{-1, {}, {}};
  if (s.watched) s.busy_in_round.assign(s.threads.size() + 1, never);
  const Index most = size() * State::most_in_share;
  for (s.first = 0; s.first < parts; s.first += most) {
    const std::uint32_t round = s.round.load(std::memory_order_relaxed) + 1;
    s.work = work;
    s.budget = current_budget();
    s.begin(round, std::min(parts - s.first, most));
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

}  // namespace touchstone
