// What a runtime must be able to do to be judged. Ours is reached through the same door as any
// vendor's.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/tensor.h"

namespace touchstone {

struct Port {
  std::string name;
  ValueType type;
  bool has_default = false;  // an initializer stands behind it, so it need not be fed
};

class LoadedModel {
 public:
  virtual ~LoadedModel() = default;
  virtual std::vector<Port> inputs() const = 0;
  virtual std::map<std::string, Value> run(const std::map<std::string, Value>& feeds) = 0;
  // After a run, of a model of one node that reads float32: "fast" if no part of its work was done
  // by a reference kernel, else "reference". "": the target does not say, or the model is another.
  // "folded" if its node was computed when planned or dropped, "view" if only its shape changed.
  virtual std::string ran() const { return ""; }
  // After a run, of any model: the classes of the kernels that its nodes ran on, each once
  // (optimized/plan/kernel_class.h), "folded" alone where none of them ran. Empty: not said.
  virtual std::vector<std::string> kernels() const { return {}; }
};

// Says what went wrong by Error: unsupported, invalid_model, invalid_input, out_of_memory, internal
// keep apart.
class Target {
 public:
  virtual ~Target() = default;
  virtual std::string name() const = 0;
  virtual std::string version() const { return ""; }
  virtual std::unique_ptr<LoadedModel> load(const std::filesystem::path& model) = 0;
};

// What a model of ours is fed with.
struct Model;
std::vector<Port> ports_of(const Model& model);

// The reference interpreter behind this door, and the fast executor.
std::unique_ptr<Target> make_reference();
struct SessionOptions;
std::unique_ptr<Target> make_fast(const SessionOptions& options);

}  // namespace touchstone
