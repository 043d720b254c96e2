// Kernels that are asked how they would compute, and compute nothing.
#pragma once

namespace touchstone {

// While one lives, the outputs that kernels bind in this thread have a type and a shape and no
// memory: nobody may read or write them.
class HollowOutputs {
 public:
  HollowOutputs();
  ~HollowOutputs();
  HollowOutputs(const HollowOutputs&) = delete;
  HollowOutputs& operator=(const HollowOutputs&) = delete;
};

}  // namespace touchstone
