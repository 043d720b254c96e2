// Memory that the plans of one session use in turn: they never run at the same time.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "optimized/plan/large.h"

namespace touchstone::optimized {

class SharedArena {
 public:
  // Returns memory number `k` of at least so many floats, with undefined content. A plan keeps what
  // it got, even if a later plan gets more; growths() tells when older plans are better dropped.
  std::shared_ptr<const LargeMemory> get(std::size_t k, Index floats) {
    if (all_.size() <= k) all_.resize(k + 1);
    One& one = all_[k];
    if (!one.memory || one.floats < floats) {
      // Sizes that grow from run to run, as a past of tokens does, need new memory seldom.
      constexpr Index most_to_spare = Index{1} << 22;
      const Index spare = one.memory ? std::min(floats / 4, most_to_spare) : 0;
      if (one.memory) ++growths_;
      one.memory = std::make_shared<const LargeMemory>(large_memory(floats + spare));
      one.floats = floats + spare;
    }
    return one.memory;
  }
  Index growths() const { return growths_; }

 private:
  struct One {
    std::shared_ptr<const LargeMemory> memory;
    Index floats = 0;
  };
  std::vector<One> all_;
  Index growths_ = 0;
};

}  // namespace touchstone::optimized
