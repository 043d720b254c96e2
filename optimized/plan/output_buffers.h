// Memory of large outputs, which later runs use again once the caller has dropped them. Fresh pages
// take several times as long as writing them.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <string>

#include "core/limits.h"
#include "core/tensor.h"

namespace touchstone::optimized {

// Buffers of the runs of a slot, which follow one another. Keeps at most two tensors for an output:
// that of the run before is often dropped during the next.
class OutputBuffers {
 public:
  // Returns a tensor whose elements have any values, for a plan that writes all of them. Throws
  // Error (out_of_memory, limit).
  Tensor get(const std::string& name, Type type, const Shape& shape, const Limits& limits) {
    const Index bytes = packed_bytes(type, count(shape));
    if (bytes < min_bytes || bytes > limits.memory / max_share) return Tensor(type, shape);
    const std::lock_guard lock(lock_);
    Kept& kept = kept_[name];
    for (Tensor& tensor : kept.tensors) {
      if (tensor.type() == type && tensor.shape() == shape && tensor.is_sole()) return tensor;
    }
    Tensor& oldest = kept.tensors[kept.next];
    kept.next = 1 - kept.next;
    oldest = {};  // before the new one takes memory
    return oldest = Tensor(type, shape, Storage::unfilled);
  }

  // True if the tensor came from here and is still kept.
  bool keeps(const Tensor& output) const {
    if (static_cast<Index>(output.bytes().size()) < min_bytes) return false;
    const std::lock_guard lock(lock_);
    return std::any_of(kept_.begin(), kept_.end(), [&](const auto& named) {
      return std::ranges::any_of(named.second.tensors, [&](const Tensor& tensor) {
        return tensor.identity() == output.identity();
      });
    });
  }
  void clear() {
    const std::lock_guard lock(lock_);
    kept_.clear();
  }

 private:
  static constexpr Index min_bytes = 64 * 1024;
  static constexpr Index max_share = 16;  // of the memory that a session may use
  struct Kept {
    std::array<Tensor, 2> tensors;
    std::size_t next = 0;
  };
  mutable std::mutex lock_;  // guards the member below
  std::map<std::string, Kept> kept_;
};

}  // namespace touchstone::optimized
