// Device buffers of a plan; buffers whose lifetimes do not overlap reuse one allocation.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "backends/device.h"
#include "core/tensor.h"
#include "optimized/plan/arena.h"

namespace touchstone::optimized {

class DeviceMemory {
 public:
  // Allocates the buffers and uploads the constants. `at_step` runs each allocation or copy on
  // behalf of the first step that uses the buffer, so that an error names that step.
  DeviceMemory(backends::Device& device, const std::vector<Span>& spans,
               const std::map<Index, const Tensor*>& constants,
               const std::function<void(Index step, const std::function<void()>&)>& at_step);

  backends::DeviceBuffer* at(Index buffer) const {
    return slots_[static_cast<std::size_t>(slot_of_[static_cast<std::size_t>(buffer)])].get();
  }
  Index bytes() const { return bytes_; }

 private:
  std::vector<Index> slot_of_;
  std::vector<std::unique_ptr<backends::DeviceBuffer>> slots_;
  Index bytes_ = 0;
};

}  // namespace touchstone::optimized
