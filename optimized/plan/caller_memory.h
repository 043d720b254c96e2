// Large feeds and outputs that steps read and write in the caller's memory instead of in copies. A
// run binds their steps anew if that memory differs from the last run's.
#pragma once

#include <map>
#include <vector>

#include "optimized/plan/builder.h"

namespace touchstone::optimized {

class CallerMemory : public Memory {
 public:
  // `least`: bytes from which binding a step takes less time than a copy.
  CallerMemory(const Builder& builder, const Memory& own, Index least);

  float* at(Index buffer) const override;
  backends::DeviceBuffer* on_device(Index buffer) const override { return own_.on_device(buffer); }

  // True if steps write this output of the graph in the memory that move() tells.
  bool takes_output(Index value) const { return outputs_.contains(value); }
  // Binds the steps that use the plain buffer of a value; null: to the plan's own memory.
  void move(Index value, float* to);

 private:
  struct Lent {
    std::vector<Step*> users;
    float* at = nullptr;  // null: in the plan's own memory
  };
  std::vector<Step*> users_of(Index buffer) const;

  const Builder& builder_;
  const Memory& own_;
  std::map<Index, Lent> lent_;      // by buffer
  std::map<Index, Index> outputs_;  // value -> buffer
};

}  // namespace touchstone::optimized
