// A model ready to run fast: what products embed.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/limits.h"
#include "model/graph.h"
#include "optimized/passes/passes.h"
#include "optimized/plan/plan.h"

namespace touchstone {

struct SessionOptions {
  Index threads = 0;  // 0: as many as this process may use
  bool winograd = true;  // false: convolutions sum their products one by one
  // Passes over the graph (optimized/passes); from `extended` on a step may be several nodes.
  PassOptions passes{.level = Level::all};
  bool timings = false;  // keep the last run's
  Limits limits = Limits::trusted();
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

  // Of the last run, or of what the next will be where that is known at load: which nodes run
  // where, and the bytes of the arena.
  std::vector<Placement> placement() const;
  Index arena_bytes() const;
  std::vector<Timing> timings() const;

 private:
  struct Held;
  std::unique_ptr<Held> held_;
};

}  // namespace touchstone
