// Budgets: caps on the bytes alive at once, the elementary operations and the wall time of a load
// or a run, and its cancellation. Kernels, graph walks and loaders charge the budget of their
// thread; a thread without one runs unlimited.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <thread>
#include <utility>

#include "core/limits.h"

namespace touchstone {

// Counts the bytes alive of a session and its runs: tensors, kernel arrays, strings, protobuf
// messages. Thread-safe.
class MemoryAccount {
 public:
  explicit MemoryAccount(Index most) : most_(most) {}
  void take(Index bytes);  // throws Error (limit), naming 'memory'
  void give(Index bytes) noexcept { alive_.fetch_sub(bytes, std::memory_order_relaxed); }
  // Throws as take() would, but reserves nothing.
  void ask(Index bytes) const;
  Index alive() const { return alive_.load(std::memory_order_relaxed); }

 private:
  const Index most_;
  std::atomic<Index> alive_{0};
};

// Ways to cancel a run. `flag` is set by another thread or a signal handler. `asked`, if given, is
// polled about 20 times a second by the thread that opened the budget.
struct Cancel {
  const std::atomic<bool>* flag = nullptr;
  bool (*asked)() = nullptr;
};

class Budget;

// Makes `budget` the current one of this thread until the scope ends. Used by worker threads that
// run part of another thread's work.
class BudgetScope {
 public:
  explicit BudgetScope(Budget* budget);
  ~BudgetScope();
  BudgetScope(const BudgetScope&) = delete;
  BudgetScope& operator=(const BudgetScope&) = delete;

 private:
  Budget* const before_;
};
Budget* current_budget();  // the current thread's budget, or null

// Opens a budget for this thread until it is destroyed: for a load, a run or a whole command. A
// nested budget also charges the outer ones. Allocates nothing if an account is given.
class Budget {
 public:
  explicit Budget(const Limits& limits, Cancel cancel = {},
                  std::shared_ptr<MemoryAccount> account = nullptr);
  // A nested budget that caps `work` elementary operations on its own; errors name it `limit`.
  // Shares the outer account.
  Budget(const char* limit, Index work);
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  Index work() const;  // operations so far; other threads report theirs in batches
  const std::shared_ptr<MemoryAccount>& account() const { return account_; }

  Index done() const { return done_.load(std::memory_order_relaxed); }
  void add(Index steps) noexcept;  // charges this budget and all outer ones
  Index left() const;              // operations until the next call of look()
  void look();                     // throws Error: limit ('work', 'deadline') or cancelled

 private:
  using Clock = std::chrono::steady_clock;
  Budget(Budget* outer, const char* limit, Index work, Index milliseconds, Cancel cancel,
         std::shared_ptr<MemoryAccount> account);
  bool is_cancelled(Clock::time_point now);

  Budget* const outer_;
  const char* const limit_;
  const Index most_, milliseconds_;
  const Clock::time_point deadline_;
  const Cancel cancel_;
  const bool timed_;  // true if this budget or an outer one reads the clock
  const std::shared_ptr<MemoryAccount> account_;
  const std::thread::id thread_;  // the thread that opened it
  std::atomic<Index> done_{0};
  std::atomic<bool> cancelled_{false};
  Clock::time_point next_question_;
  const BudgetScope scope_;
};

class Charge;

// A thread's operation counter between two checks of its budget.
struct Meter {
  Budget* budget = nullptr;
  Index left = 0, batch = 0;  // in operations
  Charge* scratch = nullptr;  // scratch memory of the node that runs now
  void settle();
};
extern constinit thread_local Meter meter;

// Charges elementary operations: an element computed or read, an iteration, a node visited. Costs a
// few nanoseconds, so call it once per row or loop, not per element. Throws Error: limit (naming
// 'work' or 'deadline') or cancelled.
inline void charge_work(Index steps) {
  if ((meter.left -= steps) < 0) [[unlikely]]
    meter.settle();
}

// Range of the indices low .. high - 1 that charges one operation per index.
class Steps {
 public:
  Steps(Index low, Index high) : low_(low), high_(high) {}
  class Iterator {
   public:
    Iterator(Index at, Index end) : at_(at), end_(end), paid_(at) { pay(); }
    Index operator*() const { return at_; }
    bool operator!=(const Iterator&) const { return at_ < end_; }
    Iterator& operator++() {
      if (++at_ == paid_) pay();
      return *this;
    }

   private:
    void pay() {
      Index steps = 0;
      if (__builtin_sub_overflow(end_, at_, &steps) || steps > most) steps = most;
      if (steps > 0) charge_work(steps);
      paid_ = at_ + steps;
    }
    static constexpr Index most = 4096;
    Index at_, end_, paid_;
  };
  Iterator begin() const { return {low_, std::max(low_, high_)}; }
  Iterator end() const { return {high_, high_}; }

 private:
  Index low_, high_;
};

// Checks deadline and cancellation at once. Called between nodes and between steps of a plan.
void check_budget();

// RAII reservation of bytes on the account of the thread that made it. Throws Error (limit), naming
// 'memory', before anything is allocated.
class Charge {
 public:
  Charge() = default;
  explicit Charge(Index bytes);
  Charge(Charge&& other) noexcept
      : account_(std::move(other.account_)), bytes_(std::exchange(other.bytes_, 0)) {}
  Charge& operator=(Charge&& other) noexcept {
    std::swap(account_, other.account_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Charge() {
    if (account_) account_->give(bytes_);
  }
  Index bytes() const { return bytes_; }
  void resize(Index bytes);

 private:
  std::shared_ptr<MemoryAccount> account_;
  Index bytes_ = 0;
};

// Throws Error (limit), naming 'memory', if so many bytes could not be charged. Reserves nothing:
// for short-lived buffers.
void ask_memory(Index bytes);

// Charges bytes that a node's kernel allocates for lists and strings; released when the node ends.
void charge_scratch(Index bytes);
// Charges a string that a kernel makes. Throws Error (limit), naming 'string_bytes' too.
void charge_text(Index bytes);
constexpr Index text_in_place = 15;  // bytes that a std::string stores without a heap allocation
class ScratchScope {                 // scope of one node's scratch memory
 public:
  ScratchScope() : before_(std::exchange(meter.scratch, &bytes_)) {}
  ~ScratchScope() { meter.scratch = before_; }
  ScratchScope(const ScratchScope&) = delete;
  ScratchScope& operator=(const ScratchScope&) = delete;

 private:
  Charge bytes_;
  Charge* const before_;
};

// Charges the memory of standard containers and of std::allocate_shared.
template <class T>
class ChargedAllocator {
 public:
  using value_type = T;
  ChargedAllocator() : account_(account_of_thread()) {}
  template <class U>
  ChargedAllocator(const ChargedAllocator<U>& other) : account_(other.account()) {}  // NOLINT
  T* allocate(std::size_t count) {
    const auto bytes = static_cast<Index>(count * sizeof(T));
    if (account_) account_->take(bytes);
    try {
      return std::allocator<T>().allocate(count);
    } catch (...) {
      if (account_) account_->give(bytes);
      throw;
    }
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    std::allocator<T>().deallocate(memory, count);
    if (account_) account_->give(static_cast<Index>(count * sizeof(T)));
  }
  const std::shared_ptr<MemoryAccount>& account() const { return account_; }
  bool operator==(const ChargedAllocator& other) const { return account_ == other.account_; }

 private:
  static std::shared_ptr<MemoryAccount> account_of_thread() {
    Budget* const budget = current_budget();
    return budget ? budget->account() : nullptr;
  }
  std::shared_ptr<MemoryAccount> account_;
};

}  // namespace touchstone
