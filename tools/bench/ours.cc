// What runs behind each name. A new executor is one class and one row here.
#include "tools/bench/ours.h"

#include "model/model.h"
#include "reference/interpreter.h"

namespace touchstone {
namespace {

class ReferenceSession : public OurSession {
 public:
  explicit ReferenceSession(const std::filesystem::path& model)
      : model_(load_valid(model, Limits::trusted())) {}
  std::map<std::string, Value> run(const std::map<std::string, Value>& feeds) override {
    return touchstone::run(model_, feeds, {Limits::trusted(), {}});
  }
  std::string settings() const override { return "one thread, whatever is asked"; }

 private:
  Model model_;
};

std::unique_ptr<OurSession> open_reference(const std::filesystem::path& model, Index) {
  return std::make_unique<ReferenceSession>(model);
}

}  // namespace

const std::vector<OurRuntime>& our_runtimes() {
  static const std::vector<OurRuntime> all{{"reference", open_reference}};
  return all;
}

}  // namespace touchstone
