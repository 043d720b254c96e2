// The fast executor as a target: "fast", or "fast:isa=avx2:threads=2:device=opencl,cpu".
#include <algorithm>
#include <set>

#include "conformance/targets/target.h"
#include "core/error.h"
#include "model/model.h"
#include "optimized/registry/registry.h"
#include "optimized/session.h"

namespace touchstone::targets {
namespace {

// True if a model has a single node that reads a float32 tensor.
bool is_float_case(const touchstone::Model& model) {
  if (model.graph.nodes.size() != 1) return false;
  const std::vector<std::string>& read = model.graph.nodes.front().inputs;
  const auto is_read = [&](const std::string& name) {
    return std::find(read.begin(), read.end(), name) != read.end();
  };
  const ValueType wanted = tensor_type(Type::float32);
  return std::any_of(
             model.graph.inputs.begin(), model.graph.inputs.end(),
             [&](const ValueInfo& input) { return is_read(input.name) && input.type == wanted; }) ||
         std::any_of(model.graph.initializers.begin(), model.graph.initializers.end(),
                     [&](const auto& held) {
                       return is_read(held.first) && held.second.type() == Type::float32;
                     });
}

bool contains(const std::vector<std::string>& names, std::string_view wanted) {
  return std::find(names.begin(), names.end(), wanted) != names.end();
}

class FastModel : public LoadedModel {
 public:
  FastModel(touchstone::Model model, const touchstone::optimized::SessionOptions& options)
      : counts_(is_float_case(model)), session_(std::move(model), options) {}

  std::vector<Port> inputs() const override { return ports_of(session_.model()); }

  std::map<std::string, Value> run(const std::map<std::string, Value>& feeds) override {
    return session_.run(feeds);
  }

  std::string ran() const override {
    if (!counts_) return "";
    const std::vector<std::string> found = kernels();
    if (contains(found, name(optimized::KernelClass::reference))) return "reference";
    return found.size() == 1 &&
                   (found[0] == "folded" || found[0] == name(optimized::KernelClass::view))
               ? found[0]
               : "fast";
  }

  // Returns the kernel classes of the steps. Steps without nodes only copy values and are skipped.
  // Without any step, all nodes are views, or their values were folded when planned.
  std::vector<std::string> kernels() const override {
    std::set<std::string> found;
    for (const optimized::Placement& step : session_.placement()) {
      if (!step.nodes.empty()) found.emplace(name(step.kernel_class));
    }
    if (found.empty()) found.emplace(all_views() ? name(optimized::KernelClass::view) : "folded");
    return {found.begin(), found.end()};
  }

 private:
  bool all_views() const {
    const std::vector<Node>& nodes = session_.model().graph.nodes;
    return !nodes.empty() && std::all_of(nodes.begin(), nodes.end(), [](const Node& node) {
      return node.signature &&
             optimized::operator_kind(*node.signature) == optimized::OperatorKind::reshape;
    });
  }

  const bool counts_;
  optimized::Session session_;
};

class FastTarget : public Target {
 public:
  explicit FastTarget(const touchstone::optimized::SessionOptions& options) : options_(options) {}
  std::string name() const override { return "fast"; }

  std::unique_ptr<LoadedModel> load(const std::filesystem::path& file) override {
    return std::make_unique<FastModel>(load_valid(file, options_.limits), options_);
  }

 private:
  const touchstone::optimized::SessionOptions options_;
};

}  // namespace

std::unique_ptr<Target> make_fast(const touchstone::optimized::SessionOptions& options) {
  return std::make_unique<FastTarget>(options);
}

}  // namespace touchstone::targets
