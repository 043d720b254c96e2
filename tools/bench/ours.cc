// What runs behind each name. A new executor is one class and one row here.
#include "tools/bench/ours.h"

#include "model/model.h"
#ifdef TOUCHSTONE_WITH_FAST
#include "optimized/session.h"
#endif
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

#ifdef TOUCHSTONE_WITH_FAST
class FastSession : public OurSession {
 public:
  FastSession(const std::filesystem::path& model, Index threads)
      : session_(load_valid(model, Limits::trusted()), SessionOptions{.threads = threads}) {}
  std::map<std::string, Value> run(const std::map<std::string, Value>& feeds) override {
    return session_.run(feeds);
  }
  std::string settings() const override {
    return "all passes, threads sleep between steps, " + std::string(name(chosen_isa()));
  }

 private:
  Session session_;
};

std::unique_ptr<OurSession> open_fast(const std::filesystem::path& model, Index threads) {
  return std::make_unique<FastSession>(model, threads);
}
#endif

}  // namespace

const std::vector<OurRuntime>& our_runtimes() {
  static const std::vector<OurRuntime> all{
#ifdef TOUCHSTONE_WITH_FAST
      {"fast", open_fast},
#endif
      {"reference", open_reference}};
  return all;
}

}  // namespace touchstone
