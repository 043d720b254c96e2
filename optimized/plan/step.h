// Step of a plan: a unit of work with its pointers bound to memory.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "backends/device.h"
#include "core/limits.h"
#include "optimized/kernels/prefetch_hint.h"
#include "optimized/plan/analyzed_graph.h"
#include "optimized/plan/kernel_class.h"
#include "optimized/threads/pool.h"

namespace touchstone::optimized {

class CallerMemory;
class Plan;
struct PlanOptions;

// State that all steps of a run use.
struct RunState {
  ThreadPool& pool;
  std::vector<Value>& values;          // by index in the graph: the tensors of their own
  const std::vector<float*>& scratch;  // one per thread
  const Limits& limits;
  const PlanOptions* options;  // of the plan

  static constexpr double worth_waking = 2500;  // nanoseconds of work

  // Like ThreadPool::each, for work that takes one thread about `nanoseconds`. Work shorter than
  // waking another thread runs on this one.
  template <class F>
  void each(Index parts, double nanoseconds, F&& work) {
    if (nanoseconds > worth_waking) return pool.each(parts, work);
    for (Index part = 0; part < parts; ++part) work(part, 0);
  }
  // Returns the number of parts to split such work into.
  Index parts(double nanoseconds) const {
    return nanoseconds > worth_waking ? parts_for(pool.size()) : 1;
  }
};

// Rough costs for one thread: a vectorized multiply-add, and an element read and written.
inline constexpr double nanoseconds_a_multiply_add = 0.015, nanoseconds_an_element = 0.15;

// Memory of a plan: buffers by number, placed once all steps are known.
class Memory {
 public:
  virtual ~Memory() = default;
  virtual float* at(Index buffer) const = 0;
  virtual backends::DeviceBuffer* on_device(Index) const { return nullptr; }  // numbered separately
};

// Thrown if a value's run-time shape differs from the inferred one. Not an error: inference of
// data-dependent sizes reports what held in every sample, and the session plans again.
struct ShapeDiffers {
  std::string value;
};

class Step {
 public:
  virtual ~Step() = default;
  virtual void bind(const Memory&) {}
  virtual void run(RunState& state) = 0;
  // Lets a step that copies a fed value pass it on in the caller's memory; false: it does not copy
  // it.
  virtual bool read_in_place(Index, CallerMemory&) { return false; }
  // Receives values that no later step reads: the step may move them out.
  virtual void read_last(const std::vector<Index>&) {}
  virtual Index scratch() const { return 0; }          // floats per thread
  virtual Index bytes_moved() const { return 0; }      // read and written, for steps without nodes
  virtual PrefetchHint weights() const { return {}; }  // read in a run; earlier steps prefetch them
  virtual void precede(const PrefetchHint&) {}         // receives the weights that are read next
  // Plans of the node's subgraphs, by the attribute of each: those that runs have made.
  virtual std::vector<std::pair<std::string, Plan*>> plans() { return {}; }

  // Kernel of the last run, and its class.
  std::string ran() const { return fallback.empty() ? kernel : "reference"; }
  KernelClass ran_class() const { return fallback.empty() ? kernel_class : KernelClass::reference; }

  std::vector<Index> nodes;  // of the model; empty for a change of layout
  Index about = no_value;    // for a step without nodes: the node that its errors name
  std::string kernel;        // "reference", "convolution 14x2 avx512", ..
  KernelClass kernel_class = KernelClass::reference;
  bool generic = false;  // a kernel compiled from the definition, without a schedule of its own
  std::string fallback;  // why the last run was on the reference kernel; empty if it was not
};

}  // namespace touchstone::optimized
