// Memory that a step keeps from run to run.
#pragma once

#include <algorithm>

#include "core/checked.h"
#include "optimized/plan/large.h"
#include "reference/lists.h"

namespace touchstone::optimized {

// Grows on demand; its content is undefined.
class KeptMemory {
 public:
  // Returns memory for `count` numbers of type T.
  template <class T>
  T* at(Index count) {
    const Index bytes = multiply(std::max<Index>(count, 1), static_cast<Index>(sizeof(T)));
    const Index floats = ceil_div(bytes, static_cast<Index>(sizeof(float)));
    if (floats > size_) {
      memory_.reset();
      size_ = 0;
      memory_ = large_memory(floats);
      size_ = floats;
    }
    return reinterpret_cast<T*>(memory_.get());
  }
  const float* floats() const { return memory_.get(); }

 private:
  LargeMemory memory_;
  Index size_ = 0;
};

}  // namespace touchstone::optimized
