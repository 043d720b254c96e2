// Session: a model ready to run on fast kernels. The API for programs that embed the executor.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/budget.h"
#include "core/tensor.h"
#include "model/graph.h"
#include "optimized/plan/plan.h"
#include "optimized/threads/pool.h"
#include "transform/optimize/passes.h"

namespace touchstone::optimized {

class RunLock;

struct SessionOptions {
  Index threads = 0;  // 0: as many as this process may use
  // Most runs at the same time; others wait. The first has all threads, each further one only its
  // caller's, and memory of its own beside the weights. 0: at least four, and one per processor.
  // A session that has no memory for two goes on with one. On a device, always one.
  Index concurrent_runs = 0;
  Executor executor = {};  // if set, runs the work of the threads; none are started
  bool winograd = true;    // false: convolutions sum their products one by one
  // Graph passes (transform/optimize). From `extended` on, a step may fuse several nodes.
  transform::PassOptions passes{.level = transform::Level::all};
  bool timings = false;  // record timings of the last run, of steps and of nodes
  // Comma-separated, in order: "cpu", "opencl,cpu", "opencl". A device before "cpu" runs all nodes
  // for which it has kernels. The processor runs the rest if it is listed; otherwise a node that
  // the device cannot run is an Error.
  std::string devices = "cpu";
  std::shared_ptr<backends::Device> (*open)(const std::string& name) =
      backends::open_device;  // replaced in tests
  // For construction and for each run; the memory limit covers the session and its runs together.
  Limits limits = Limits::trusted();
  Cancel cancel = {};
  // If set, allocates each buffer of a plan: tests place them next to inaccessible pages.
  BufferSource buffers = {};
  // Sizes of symbolic dimensions in input shapes; a feed of another size is refused. If no size
  // remains open, the plan is made and weights are packed at load.
  std::map<std::string, Index> dims = {};
};

class Session {
 public:
  // The model must be resolved and valid (load_valid). Plans and packs weights at once if no input
  // size is open; otherwise the first run of each shape does. Throws Error.
  explicit Session(Model model, const SessionOptions& options = {});
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  const Model& model() const;

  // Feeds by input name, outputs by output name. Throws Error: usage for a feed of the wrong name,
  // type or shape; otherwise with the node's place. Thread-safe (SessionOptions::concurrent_runs).
  std::map<std::string, Value> run(const std::map<std::string, Value>& feeds);

  // Prepares runs on the caller's memory (core/placement.h). Feeds are read from and outputs
  // written to these tensors in place, so a feed's content may change between runs, but not its
  // shape. Outputs not named are not returned. If every node has a fast kernel, runs after the
  // first allocate nothing. Throws Error: usage if a tensor does not fit the model.
  class Bound;
  Bound bind(std::map<std::string, Value> feeds, std::map<std::string, Tensor> outputs);

  // True if the session made this output in memory that it keeps for later runs: until then only
  // the caller, and outputs of the same identity, use the memory. Thread-safe.
  bool keeps(const Tensor& output) const;

  // Placement of nodes and bytes of the arena, for the run that began last, after its end. Before
  // the first run: for the plan made at load, or empty.
  std::vector<Placement> placement() const;
  // Kernel and reason of each node after the passes, for the last run as above.
  std::vector<NodePlacement> kernels() const;
  // Likewise for feeds of these shapes, without a run. Throws Error: usage if a tensor is missing
  // or its shape is not as declared.
  std::vector<NodePlacement> kernels_for(const std::map<std::string, Shape>& shapes);
  Index arena_bytes() const, device_bytes() const;
  std::vector<Timing> timings() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The session must outlive it.
class Session::Bound {
 public:
  Bound(Bound&&) noexcept;
  ~Bound();
  // Throws like Session::run, and Error (usage) if an output has another type or shape than the
  // tensor bound for it. Thread-safe: two calls run one after the other.
  void run();

 private:
  friend class Session;
  Bound(Impl& held, std::map<std::string, Value> feeds, std::map<std::string, Tensor> outputs);

  Impl* impl_;
  std::unique_ptr<RunLock> one_run_;
  std::map<std::string, Value> feeds_;
  std::map<std::string, Shape> shapes_;
  std::map<std::string, Tensor> outputs_;
};

}  // namespace touchstone::optimized
