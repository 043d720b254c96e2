// Memory of a plan's buffers, by number.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "optimized/plan/arena.h"
#include "optimized/plan/arena_check.h"
#include "optimized/plan/device_memory.h"
#include "optimized/plan/large.h"
#include "optimized/plan/plan.h"

namespace touchstone {

// One block for the arena, or separately allocated buffers.
class PlanMemory : public Memory {
 public:
  PlanMemory(const std::vector<Span>& spans, const std::map<Index, const Tensor*>& constants,
             Index bytes, const BufferSource& source, const DeviceMemory* there)
      : spans_(spans), constants_(constants), there_(there) {
    if (!source) {
      memory_ = large_memory(bytes / 4);
      return;
    }
    for (const Span& span : spans) apart_.push_back(source(span.bytes));
  }
  float* at(Index buffer) const override {
    if (const auto found = constants_.find(buffer); found != constants_.end())
      return const_cast<float*>(found->second->data<float>());
    const auto k = static_cast<std::size_t>(buffer);
    return memory_ ? memory_.get() + spans_[k].offset / 4 : static_cast<float*>(apart_[k].get());
  }
  DeviceBuffer* on_device(Index buffer) const override { return there_->at(buffer); }

  // Returns all memory of the plan, for the arena check.
  std::vector<ArenaCheck::Area> areas(Index bytes) const {
    if (memory_) return {{memory_.get(), bytes}};
    std::vector<ArenaCheck::Area> made;
    for (std::size_t k = 0; k < apart_.size(); ++k)
      made.push_back({static_cast<float*>(apart_[k].get()), spans_[k].bytes});
    return made;
  }

 private:
  const std::vector<Span>& spans_;
  const std::map<Index, const Tensor*>& constants_;
  const DeviceMemory* const there_;
  LargeMemory memory_;
  std::vector<std::shared_ptr<void>> apart_;
};

}  // namespace touchstone
