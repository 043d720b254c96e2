// Slots of a session. A run takes one for itself: the plans that it may use, their arena, and the
// threads that help it. Runs at the same time take several; all share the model and its weights.
#pragma once

#include <algorithm>
#include <atomic>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "optimized/session_model.h"
#include "optimized/threads/pool.h"
#include "optimized/threads/run_lock.h"

namespace touchstone::optimized {

struct MadePlan {
  transform::FedShapes shapes;
  std::set<std::string> unclaimed;
  std::shared_ptr<SessionModel> model;  // referenced by the plan
  std::unique_ptr<Plan> plan;
};

struct RunSlot {
  void forget();  // the plans and their arena

  RunLock lock;  // guards all members below
  std::optional<ThreadPool> own;
  std::shared_ptr<SharedArena> arena = std::make_shared<SharedArena>();
  const std::shared_ptr<OutputBuffers> outputs = std::make_shared<OutputBuffers>();
  std::vector<Timing> timings = {};
  std::list<MadePlan> plans = {};  // most recently used first
};

// Thread-safe; allocates nothing after construction.
class RunSlots {
 public:
  // `count`: runs at the same time, at least 1.
  explicit RunSlots(std::size_t count) : all_(count), open_(count), latest_(&all_.front()) {}

  // A slot that is held until the end of the scope.
  class Held {
   public:
    // Takes the first free slot, the latest from now on. Waits for one, and meanwhile looks at the
    // budget of the thread.
    explicit Held(RunSlots& slots) : slots_(slots), slot_(slots.taken(nullptr)) {}
    // Waits for this slot, likewise.
    Held(RunSlots& slots, RunSlot& slot) : slots_(slots), slot_(slots.taken(&slot)) {}
    ~Held() { slots_.release(slot_); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    RunSlot& slot() const { return slot_; }

   private:
    RunSlots& slots_;
    RunSlot& slot_;
  };

  RunSlot& first() { return all_.front(); }
  // True if a slot keeps the memory of this output for later runs.
  bool keep(const Tensor& output) const {
    return std::ranges::any_of(all_,
                               [&](const RunSlot& slot) { return slot.outputs->keeps(output); });
  }
  // Returns the slot that was taken last.
  RunSlot& latest() { return *latest_.load(); }

  // Allows one run at a time from now on. Releases the memory of the other slots, after their runs.
  // Returns false if no run ever used one.
  bool keep_one();

 private:
  RunSlot& taken(RunSlot* only);  // null: any
  RunSlot* found(RunSlot* only);  // returns null if that is in use
  void release(RunSlot& slot);

  std::vector<RunSlot> all_;
  std::atomic<std::size_t> open_;      // the first slots, which runs may take
  std::atomic<bool> several_ = false;  // a slot beside the first was taken
  std::atomic<RunSlot*> latest_;
  std::atomic<std::uint32_t> released_{0}, waiting_{0};
};

}  // namespace touchstone::optimized
