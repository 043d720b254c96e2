// The fast executor as a target: "fast", or "fast:isa=avx2:threads=2".
#include <cstdlib>

#include "conformance/targets/target.h"
#include "core/error.h"
#include "model/model.h"
#include "optimized/session.h"

namespace touchstone {
namespace {

class FastModel : public LoadedModel {
 public:
  FastModel(Model model, const SessionOptions& options) : session_(std::move(model), options) {}

  std::vector<Port> inputs() const override { return ports_of(session_.model()); }

  std::map<std::string, Value> run(const std::map<std::string, Value>& feeds) override {
    return session_.run(feeds);
  }

 private:
  Session session_;
};

class FastTarget : public Target {
 public:
  explicit FastTarget(const SessionOptions& options) : options_(options) {}
  std::string name() const override { return "fast"; }

  std::unique_ptr<LoadedModel> load(const std::filesystem::path& file) override {
    return std::make_unique<FastModel>(load_valid(file, options_.limits), options_);
  }

 private:
  const SessionOptions options_;
};

}  // namespace

std::unique_ptr<Target> make_fast(const SessionOptions& options) {
  return std::make_unique<FastTarget>(options);
}

}  // namespace touchstone
