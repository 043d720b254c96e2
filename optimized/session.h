// A model ready to run fast: what products embed.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/budget.h"
#include "core/tensor.h"
#include "model/graph.h"
#include "optimized/passes/passes.h"
#include "optimized/plan/plan.h"

namespace touchstone {

struct SessionOptions {
  Index threads = 0;     // 0: as many as this process may use
  bool winograd = true;  // false: convolutions sum their products one by one
  // Passes over the graph (optimized/passes); from `extended` on a step may be several nodes.
  PassOptions passes{.level = Level::all};
  bool timings = false;  // keep the last run's
  // In order, with commas: "cpu", "opencl,cpu", "opencl". What a device before "cpu" has kernels
  // for runs there, the rest on the processor if the list names it; else a node that the device
  // does not run is an Error.
  std::string devices = "cpu";
  std::shared_ptr<Device> (*open)(const std::string& name) = open_device;  // tests give another
  // Of making the session, and of each run; memory is that of the session with its runs.
  Limits limits = Limits::trusted();
  Cancel cancel = {};
  // If given, what a plan computes in comes from it, buffer by buffer: tests put them where nothing
  // may be beside them.
  BufferSource buffers = {};
  // Sizes of symbols in the shapes of inputs: a feed of another size is refused. Where no size is
  // left open, the plan is made and weights are packed at load.
  std::map<std::string, Index> dims = {};
};

class Session {
 public:
  // The model must be resolved and valid (load_valid). Plans and packs weights where the model
  // leaves no size of its inputs open; else the first run of each shape does. Throws Error.
  explicit Session(Model model, const SessionOptions& options = {});
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  const Model& model() const;

  // Feeds by input name, outputs by output name. Throws Error: usage for a feed of the wrong name,
  // type or shape; else with the node's place. One run at a time: others wait.
  std::map<std::string, Value> run(std::map<std::string, Value> feeds);

  // A run on memory of the caller's (core/placement.h): feeds are read and outputs are written
  // where these tensors stand, so what a feed holds may change from run to run, its shape not.
  // Outputs that are not named are not given. Where every node has a fast kernel, a run after the
  // first allocates nothing. Throws Error: usage for what does not fit the model.
  class Bound;
  Bound bind(std::map<std::string, Value> feeds, std::map<std::string, Tensor> outputs);

  // Of the last run, or of what the next will be where that is known at load: which nodes run
  // where, and the bytes of the arena.
  std::vector<Placement> placement() const;
  Index arena_bytes() const, device_bytes() const;
  std::vector<Timing> timings() const;

 private:
  struct Held;
  std::unique_ptr<Held> held_;
};

// The session must outlive it.
class Session::Bound {
 public:
  // Throws what Session::run throws, and Error (usage) where an output has another type or shape
  // than the tensor that is bound for it.
  void run();

 private:
  friend class Session;
  Bound(Held& held, std::map<std::string, Value> feeds, std::map<std::string, Tensor> outputs);

  Held* held_;
  const std::map<std::string, Value> feeds_;
  const std::map<std::string, Shape> shapes_;
  std::map<std::string, Tensor> outputs_;
};

}  // namespace touchstone
