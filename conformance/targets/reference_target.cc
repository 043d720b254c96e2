// The reference as a target.
#include "conformance/targets/target.h"
#include "core/error.h"
#include "model/model.h"
#include "reference/interpreter.h"

namespace touchstone::targets {
namespace {

class ReferenceModel : public LoadedModel {
 public:
  explicit ReferenceModel(touchstone::Model model) : model_(std::move(model)) {}

  std::vector<Port> inputs() const override { return ports_of(model_); }

  std::map<std::string, Value> run(const std::map<std::string, Value>& feeds) override {
    return touchstone::run(model_, feeds, RunOptions{Limits::trusted(), {}});
  }

 private:
  touchstone::Model model_;
};

class ReferenceTarget : public Target {
 public:
  std::string name() const override { return "reference"; }

  std::unique_ptr<LoadedModel> load(const std::filesystem::path& file) override {
    return std::make_unique<ReferenceModel>(load_valid(file, Limits::trusted()));
  }
};

}  // namespace

std::vector<Port> ports_of(const touchstone::Model& model) {
  std::vector<Port> ports;
  for (const ValueInfo& input : model.graph.inputs) {
    if (!input.type) {
      throw Error(ErrorKind::invalid_model,
                  "input '" + input.name + "' of the main graph has no type");
    }
    const bool initialized = model.graph.initializers.contains(input.name) ||
                             model.graph.sparse_initializers.contains(input.name);
    ports.push_back({input.name, *input.type, initialized});
  }
  return ports;
}

std::unique_ptr<Target> make_reference() { return std::make_unique<ReferenceTarget>(); }

}  // namespace touchstone::targets
