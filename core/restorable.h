// Elements of tensors whose owner may drop them while it can make them again: weights of which a
// plan keeps a packed form.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <span>

#include "core/tensor.h"

namespace touchstone {

// Memory of elements and its capacity in bytes.
struct ElementMemory {
  std::shared_ptr<void> first;
  Index capacity = 0;
};

// Elements that copies of a tensor share. Tensor::data pins them: from then on they stay where they
// are. Unpinned elements may be dropped; the next read restores them.
// Thread-safe.
class Restorable {
 public:
  // Makes the elements, as they were, in memory of the same capacity. Throws Error (out_of_memory,
  // limit).
  using Restore = std::function<ElementMemory()>;

  explicit Restorable(ElementMemory memory)
      : capacity_(memory.capacity), memory_(std::move(memory)) {}

  // Returns the elements, which never move again.
  void* pin();
  // Returns the elements, which stay as long as the result lives.
  std::shared_ptr<const void> hold();
  // Gives the memory to `take`, which may write over it and must not throw; `restore` makes the
  // elements from then on. Returns false, without a call, if they are pinned or held.
  bool drop(Restore restore, const std::function<void(ElementMemory)>& take);
  bool present();  // false: dropped
  bool is_pinned() const { return pinned_.load(std::memory_order_acquire) != nullptr; }
  // Capacity in bytes of the elements' memory, dropped or not.
  Index capacity() const { return capacity_; }

 private:
  void restore();  // the mutex must be locked

  const Index capacity_;
  std::mutex mutex_;
  std::atomic<void*> pinned_{nullptr};
  ElementMemory memory_;
  Restore restore_;  // empty unless the elements are dropped
};

// Makes the one buffer of these tensors restorable and returns true, if no other tensor refers to
// it and it has pages of its own.
bool make_restorable(std::span<Tensor* const> tensors);

// Returns the elements that the copies of a tensor share; null if they are not restorable.
std::shared_ptr<Restorable> restorable_of(const Tensor& tensor);

// Returns the memory of a tensor that is not restorable. That of large weights has extra
// capacity (Storage).
ElementMemory memory_of(const Tensor& tensor);

}  // namespace touchstone
