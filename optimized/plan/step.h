// What a plan runs: one step after the other, each with its pointers in place.
#pragma once

#include <string>
#include <vector>

#include "backends/device.h"
#include "core/limits.h"
#include "optimized/kernels/soon.h"
#include "optimized/plan/kernel_class.h"
#include "optimized/plan/outline.h"
#include "optimized/threads/pool.h"

namespace touchstone {

// What steps share while a plan runs.
struct RunState {
  ThreadPool& pool;
  std::vector<Value>& values;  // by number in the outline: those that are tensors of their own
  const std::vector<float*>& scratch;  // one a thread
  const Limits& limits;

  // As ThreadPool::each, of work that takes one thread about so many nanoseconds. What takes no
  // longer than waking another thread stays on this one.
  template <class F>
  void each(Index parts, double nanoseconds, F&& work) {
    constexpr double worth_waking = 2500;
    if (nanoseconds > worth_waking) return pool.each(parts, work);
    for (Index part = 0; part < parts; ++part) work(part, 0);
  }
};

// Rough times of one thread: a multiply-add with vectors, and an element that is read and written.
inline constexpr double nanoseconds_a_product = 0.015, nanoseconds_an_element = 0.15;

// Memory of a plan: buffers by number, placed once all steps are known.
class Memory {
 public:
  virtual ~Memory() = default;
  virtual float* at(Index buffer) const = 0;
  virtual DeviceBuffer* on_device(Index) const { return nullptr; }  // numbered apart
};

// Thrown where a run shows that a value has another shape than was inferred, which is no error: of
// sizes that hang on what values hold, inference says what held wherever it looked.
struct ShapeDiffers {
  std::string value;
};

class Step {
 public:
  virtual ~Step() = default;
  virtual void bind(const Memory&) {}
  virtual void run(RunState& state) = 0;
  virtual Index scratch() const { return 0; }  // floats a thread
  virtual Index moved() const { return 0; }    // bytes read and written, of a step of no node
  virtual Soon weights() const { return {}; }  // that a run reads, for the steps before to ask for
  virtual void precede(const Soon&) {}         // those that are read next

  std::vector<Index> nodes;  // of the model; none for a change of layout
  Index about = nobody;      // a step of no node: the one whose failure it would be
  std::string kernel;        // "reference", "convolution 14x2 avx512", ..
  KernelClass kernel_class = KernelClass::reference;
};

}  // namespace touchstone
