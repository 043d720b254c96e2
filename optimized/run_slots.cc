// Takes and releases slots. Nothing here is a mutex, which the child of a fork could find locked.
#include "optimized/run_slots.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

#include "core/budget.h"

namespace touchstone::optimized {
namespace {

constexpr timespec between_looks{0, 5'000'000};

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

// Sleeps until the word is woken, but not if it has another value, and not longer than a look at
// the budget may wait.
void sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t seen) {
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, &between_looks, nullptr, 0);
}

void wake_one(std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

struct Waiting {
  explicit Waiting(std::atomic<std::uint32_t>& count) : count(count) { ++count; }
  ~Waiting() { --count; }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  std::atomic<std::uint32_t>& count;
};

}  // namespace

void RunSlot::forget() {
  plans.clear();
  arena = std::make_shared<SharedArena>();
  outputs->clear();
  own.reset();
}

RunSlot* RunSlots::found(RunSlot* only) {
  if (only != nullptr) return only->lock.try_lock() ? only : nullptr;
  for (std::size_t k = 0; k < open_; ++k) {
    RunSlot& slot = all_[k];
    if (!slot.lock.try_lock()) continue;
    if (k < open_) {
      if (k > 0) several_ = true;
      latest_ = &slot;
      return &slot;
    }
    slot.lock.unlock();  // keep_one() was called meanwhile
  }
  return nullptr;
}

RunSlot& RunSlots::taken(RunSlot* only) {
  if (RunSlot* const slot = found(only)) return *slot;
  const Waiting one(waiting_);
  for (;;) {
    // Read before the slots: one that is released later changes it.
    const std::uint32_t seen = released_;
    if (RunSlot* const slot = found(only)) return *slot;
    if (current_budget() != nullptr) check_budget();
    sleep_on(released_, seen);
  }
}

void RunSlots::release(RunSlot& slot) {
  slot.lock.unlock();
  ++released_;
  if (waiting_ != 0) wake_one(released_);
}

bool RunSlots::keep_one() {
  if (!several_) return false;
  open_ = 1;
  for (std::size_t k = 1; k < all_.size(); ++k) {
    const Held held(*this, all_[k]);
    held.slot().forget();
  }
  latest_ = &all_.front();
  return true;
}

}  // namespace touchstone::optimized
