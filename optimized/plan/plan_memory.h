// Memory of a plan, and copies of values out of it.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "optimized/plan/arena.h"
#include "optimized/plan/arena_check.h"
#include "optimized/plan/device_memory.h"
#include "optimized/plan/large.h"
#include "optimized/plan/plan.h"

namespace touchstone::optimized {

// Memory of a plan: one block for the arena, or separately allocated buffers.
class PlanMemory : public Memory {
 public:
  // `arena`: of `bytes`, or null if the options give each buffer memory of its own.
  PlanMemory(const std::vector<Span>& spans, const std::map<Index, const Tensor*>& constants,
             Index bytes, std::shared_ptr<const LargeMemory> arena, const PlanOptions& options,
             const DeviceMemory* there)
      : spans_(spans),
        constants_(constants),
        there_(there),
        bytes_(bytes),
        lent_(options.lent),
        memory_(std::move(arena)) {
    if (memory_) return;
    for (const Span& span : spans) apart_.push_back(options.buffers(span.bytes));
  }
  float* at(Index buffer) const override {
    if (const auto found = constants_.find(buffer); found != constants_.end())
      return const_cast<float*>(found->second->data<float>());
    const auto k = static_cast<std::size_t>(buffer);
    return memory_ ? memory_->get() + spans_[k].offset / 4 : static_cast<float*>(apart_[k].get());
  }
  backends::DeviceBuffer* on_device(Index buffer) const override { return there_->at(buffer); }

  // True for the plan's memory, and for what is lent to it.
  bool holds(std::span<const std::byte> bytes) const {
    const auto within = [&](const void* memory, Index size) {
      const auto* const first = static_cast<const std::byte*>(memory);
      return bytes.data() >= first && bytes.data() < first + size;
    };
    if (within(lent_.data(), static_cast<Index>(lent_.size()))) return true;
    if (memory_) return within(memory_->get(), bytes_);
    for (std::size_t k = 0; k < apart_.size(); ++k) {
      if (within(apart_[k].get(), spans_[k].bytes)) return true;
    }
    return false;
  }

  // Returns all memory of the plan, for the arena check.
  std::vector<ArenaCheck::Area> areas(Index bytes) const {
    if (memory_) return {{memory_->get(), bytes}};
    std::vector<ArenaCheck::Area> made;
    for (std::size_t k = 0; k < apart_.size(); ++k)
      made.push_back({static_cast<float*>(apart_[k].get()), spans_[k].bytes});
    return made;
  }

 private:
  const std::vector<Span>& spans_;
  const std::map<Index, const Tensor*>& constants_;
  const DeviceMemory* const there_;
  const Index bytes_;
  const std::span<const std::byte> lent_;
  const std::shared_ptr<const LargeMemory> memory_;
  std::vector<std::shared_ptr<void>> apart_;
};

// Returns a deep copy: the next run overwrites the plan's memory. `own`: not null, then tensors
// outside of this memory are shared.
Value detached(const Value& value, const PlanMemory* own);
// True if all tensors of a value are outside of the memory.
bool is_outside(const Value& value, const PlanMemory& own);

}  // namespace touchstone::optimized
