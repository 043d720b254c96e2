// Restorable elements: pins, drops and restores.
#include "core/restorable.h"

#include <utility>

namespace touchstone {

void* Restorable::pin() {
  if (void* const first = pinned_.load(std::memory_order_acquire)) return first;
  const std::lock_guard lock(mutex_);
  restore();
  pinned_.store(memory_.first.get(), std::memory_order_release);
  return memory_.first.get();
}

std::shared_ptr<const void> Restorable::hold() {
  const std::lock_guard lock(mutex_);
  restore();
  return memory_.first;
}

bool Restorable::drop(Restore restore, const std::function<void(ElementMemory)>& take) {
  const std::lock_guard lock(mutex_);
  if (pinned_.load(std::memory_order_relaxed) != nullptr || memory_.first.use_count() != 1)
    return false;
  restore_ = std::move(restore);
  take(std::exchange(memory_, {}));
  return true;
}

bool Restorable::present() {
  const std::lock_guard lock(mutex_);
  return memory_.first != nullptr;
}

void Restorable::restore() {
  if (memory_.first) return;
  memory_ = restore_();
  restore_ = nullptr;  // it may keep the packed form alive
}

}  // namespace touchstone
