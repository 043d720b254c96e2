// MaxPool of 8-bit integers over small planes: the plane is padded once, so that a term of the
// window is one shift of all rows, however short they are.
#pragma once

#include <optional>

#include "optimized/lowering/sliding.h"

namespace touchstone::optimized {

class PlanePool {
 public:
  // No value if the window is not of two dimensions, or the padded plane exceeds `most` bytes.
  static std::optional<PlanePool> of(const Sliding& window, Index most);
  // Writes the largest numbers of all windows of one plane. `scratch` holds twice `most` bytes.
  void run(const void* plane, bool is_signed, float* scratch, void* made) const;

 private:
  Sliding window_;
  Index rows_ = 0, pitch_ = 0;  // of the padded plane
  Index bytes_ = 0;             // of it, with what vectors read beyond
};

}  // namespace touchstone::optimized
