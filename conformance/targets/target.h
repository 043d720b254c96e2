// Interface of a runtime under test. Our own runtimes use the same interface as any vendor's.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/tensor.h"

namespace touchstone {
struct Model;
}  // namespace touchstone

namespace touchstone::optimized {
struct SessionOptions;
}

namespace touchstone::targets {

struct Port {
  std::string name;
  ValueType type;
  bool has_default = false;  // an initializer is its default, so it need not be fed
};

class LoadedModel {
 public:
  virtual ~LoadedModel() = default;
  virtual std::vector<Port> inputs() const = 0;
  virtual std::map<std::string, Value> run(const std::map<std::string, Value>& feeds) = 0;
  // After a run of a single-node model that reads float32: "fast" if no part of its work ran on a
  // reference kernel, else "reference". "folded" if its node was computed when planned or dropped,
  // "view" if only its shape changed. "" if the target does not report it, or for any other model.
  virtual std::string ran() const { return ""; }
  // After a run of any model: the classes of the kernels that its nodes ran on, each once
  // (optimized/plan/kernel_class.h), or "folded" alone if none ran. Empty if not reported.
  virtual std::vector<std::string> kernels() const { return {}; }
};

// Interface of a target. Failures are reported by Error: unsupported, invalid_model, invalid_input,
// out_of_memory and internal are distinguished.
class Target {
 public:
  virtual ~Target() = default;
  virtual std::string name() const = 0;
  virtual std::string version() const { return ""; }
  virtual std::unique_ptr<LoadedModel> load(const std::filesystem::path& model) = 0;
};

// Returns the ports of a model of this project.
std::vector<Port> ports_of(const touchstone::Model& model);

// Create the reference interpreter and the fast executor as targets.
std::unique_ptr<Target> make_reference();
std::unique_ptr<Target> make_fast(const optimized::SessionOptions& options);

}  // namespace touchstone::targets
