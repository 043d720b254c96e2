// Dry runs of kernels, which bind their outputs without memory and compute nothing.
#pragma once

namespace touchstone {

// While one exists, outputs bound by kernels of this thread have a type and a shape but no memory:
// they must not be accessed.
class HollowOutputs {
 public:
  HollowOutputs();
  ~HollowOutputs();
  HollowOutputs(const HollowOutputs&) = delete;
  HollowOutputs& operator=(const HollowOutputs&) = delete;
};

}  // namespace touchstone
