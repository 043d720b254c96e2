// What one run may still use: bytes alive at once, elementary steps of work, time until a deadline,
// and whether somebody cancels it. Kernels, walks and loaders charge the budget of their thread; a
// thread without one is free.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <thread>
#include <utility>

#include "core/limits.h"

namespace touchstone {

// Bytes alive of a session and its runs: tensors, arrays of kernels, strings, messages of a file.
class MemoryAccount {
 public:
  explicit MemoryAccount(Index most) : most_(most) {}
  void take(Index bytes);  // throws Error (limit), naming 'memory'
  void give(Index bytes) noexcept { alive_.fetch_sub(bytes, std::memory_order_relaxed); }
  // Throws as take() would, and takes nothing.
  void ask(Index bytes) const;
  Index alive() const { return alive_.load(std::memory_order_relaxed); }

 private:
  const Index most_;
  std::atomic<Index> alive_{0};
};

// Who may stop a run. The flag is set by another thread or a signal's handler; `asked`, if given,
// is called some tens of times a second by the thread that opened the budget.
struct Cancel {
  const std::atomic<bool>* flag = nullptr;
  bool (*asked)() = nullptr;
};

class Budget;

// Makes a budget that of this thread: for a part of work that another thread shares out.
class BudgetScope {
 public:
  explicit BudgetScope(Budget* budget);
  ~BudgetScope();
  BudgetScope(const BudgetScope&) = delete;
  BudgetScope& operator=(const BudgetScope&) = delete;

 private:
  Budget* const before_;
};
Budget* current_budget();  // of this thread, or null

// Opens a budget for this thread until it goes: of a load, of a run, of a whole command. Inside
// another it counts for both. Allocates nothing where an account is given.
class Budget {
 public:
  explicit Budget(const Limits& limits, Cancel cancel = {},
                  std::shared_ptr<MemoryAccount> account = nullptr);
  // Part of the outer budget that may do so much work on its own, under a limit's name.
  Budget(const char* limit, Index work);
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  Index work() const;  // so far; what other threads count comes in batches
  const std::shared_ptr<MemoryAccount>& account() const { return account_; }

  Index done() const { return done_.load(std::memory_order_relaxed); }
  void add(Index steps) noexcept;  // to this and those around it
  Index left() const;              // steps until the next look
  void look();                     // throws Error: limit ('work', 'deadline'), cancelled

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
  const bool timed_;  // this or one around it asks for the time
  const std::shared_ptr<MemoryAccount> account_;
  const std::thread::id thread_;  // that opened it
  std::atomic<Index> done_{0};
  std::atomic<bool> cancelled_{false};
  Clock::time_point next_question_;
  const BudgetScope scope_;
};

class Charge;

// What a thread counts between two looks at its budget.
struct Meter {
  Budget* budget = nullptr;
  Index left = 0, batch = 0;  // steps
  Charge* scratch = nullptr;  // of the node at work
  void settle();
};
extern constinit thread_local Meter meter;

// Counts elementary steps: an element that an operator computes or reads, an iteration, a node that
// is looked at. A few nanoseconds: once for a row or a loop, not for each element. Throws Error:
// limit (naming 'work' or 'deadline') or cancelled.
inline void charge_work(Index steps) {
  if ((meter.left -= steps) < 0) [[unlikely]]
    meter.settle();
}

// The indices from low to high - 1, each a step of the budget.
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

// Asks for deadline and cancel at once: between nodes and steps of a plan.
void check_budget();

// Bytes that this holder keeps alive, on the account of the thread that made it. Throws Error
// (limit), naming 'memory', before anything is allocated.
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

// Throws Error (limit), naming 'memory', where so many bytes could not be charged: for what is
// released soon.
void ask_memory(Index bytes);

// Bytes that a node's kernel makes in lists and texts: alive until the node ends.
void charge_scratch(Index bytes);
// A text that a kernel makes. Throws Error (limit), naming 'string_bytes' too.
void charge_text(Index bytes);
constexpr Index text_in_place = 15;  // bytes of a std::string that take no memory beside it
class ScratchScope {                 // of one node
 public:
  ScratchScope() : before_(std::exchange(meter.scratch, &bytes_)) {}
  ~ScratchScope() { meter.scratch = before_; }
  ScratchScope(const ScratchScope&) = delete;
  ScratchScope& operator=(const ScratchScope&) = delete;

 private:
  Charge bytes_;
  Charge* const before_;
};

// For standard containers and shared memory: what they hold is charged.
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
