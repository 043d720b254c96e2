// Runs the sets of feeds of a case on a target: in this process, or in a worker process of the
// target's own.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "conformance/targets/protocol.h"
#include "conformance/targets/starter.h"
#include "conformance/targets/target.h"
#include "core/limits.h"
#include "fuzz/case.h"

namespace touchstone::fuzz {

// One run of a case. `answer` holds no outputs: they are in `outputs`.
struct Run {
  targets::Answer answer;
  Feeds outputs;
};

class Runner {
 public:
  virtual ~Runner() = default;
  // Returns one run per set of feeds, or fewer: the last one then has no outputs.
  virtual std::vector<Run> run(const Model& model, const std::vector<Feeds>& feeds) = 0;
  // True if an error of any kind refuses an invalid case. Our own targets must name a rule.
  virtual bool refuses_by_any_error() const { return false; }

  // Returns a runner of the same target with more options ("isa=avx2"), or this one for "". Throws
  // Error (unsupported) if the target takes none.
  Runner& with(const std::string& options);
  std::function<std::unique_ptr<Runner>(const std::string& options)> make_other = {};
  bool external = false;  // true: weights are in a file beside the model's

 protected:
  void save(const Model& model, const std::filesystem::path& file) const;

 private:
  std::map<std::string, std::unique_ptr<Runner>> others_;
};

using MakeRunner = std::function<std::unique_ptr<Runner>()>;

// Limits of a case: 1 GiB, and a cap on elementary operations, which is the same on every machine.
Limits limits_of_case();
// Limits of the runtime that runs it: twice the memory and three times the operations, as it may
// need more than the reference.
Limits limits_of_target();

// Loads the model once and runs all feeds in that session; then runs the first feeds again, whose
// outputs must be the same. `folder` exists and belongs to this runner.
std::unique_ptr<Runner> run_in_process(std::unique_ptr<targets::Target> target,
                                       const std::filesystem::path& folder);

// Runs each set of feeds by a worker of a Host (conformance/targets/host.h); each set
// is a session of its own. A death that does not repeat in a fresh worker is not attributed to the
// case.
std::unique_ptr<Runner> run_in_worker(std::vector<std::string> command,
                                      std::chrono::milliseconds limit,
                                      const std::filesystem::path& folder,
                                      std::shared_ptr<const targets::Starter> starter = nullptr);

}  // namespace touchstone::fuzz
