// Worker that misbehaves as its case requests, for tests of the host. The file name of the "model"
// selects the fault; no model is read.
#include <sys/types.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <vector>

#include "conformance/targets/serve.h"

namespace touchstone::targets {
namespace {

Value number(float value) {
  Tensor tensor(Type::float32, {1});
  tensor.data<float>()[0] = value;
  return tensor;
}

// Once set, the next case crashes: the effect of an earlier overrun on an innocent case.
bool poisoned = false;

class BadModel : public LoadedModel {
 public:
  explicit BadModel(std::string how) : how_(std::move(how)) {}
  std::vector<Port> inputs() const override { return {}; }

  std::map<std::string, Value> run(const std::map<std::string, Value>&) override {
    if (poisoned) std::raise(SIGSEGV);
    if (how_ == "crash") std::raise(SIGSEGV);
    if (how_ == "abort") {
      std::cerr << "bad_worker: a wish for an end\n";
      std::abort();
    }
    if (how_ == "leave") std::_Exit(3);
    if (how_ == "poison") poisoned = true;
    if (how_ == "hang") pause();
    if (how_ == "hang-with-child") {
      if (fork() == 0) {
        const char* const pipe = std::getenv("BAD_WORKER_PIPE");  // written to when the child runs
        if (pipe && ::write(std::atoi(pipe), "x", 1) != 1) std::_Exit(4);
        pause();
      }
      pause();
    }
    if (how_ == "memory") {
      std::vector<std::unique_ptr<char[]>>
          hoard;  // allocates address space, which is limited; no page is touched
      while (true) hoard.emplace_back(new char[1 << 26]);
    }
    if (how_ == "garbage") {
      const std::string noise(64, 'x');
      if (::write(0, noise.data(), noise.size()) < 0) std::_Exit(4);
    }
    if (how_ == "differ") return {{"y", number(static_cast<float>(++runs_))}};
    if (how_ == "unsupported") throw Error(ErrorKind::unsupported, "Frobnicate-7 has no kernel");
    if (how_ == "throw") throw std::runtime_error("surprise");
    return {{"y", number(1)}};
  }

 private:
  std::string how_;
  int runs_ = 0;
};

class BadTarget : public Target {
 public:
  std::string name() const override { return "bad"; }
  std::unique_ptr<LoadedModel> load(const std::filesystem::path& model) override {
    if (model.filename() == "hang-loading") pause();
    return std::make_unique<BadModel>(model.filename().string());
  }
};

}  // namespace
}  // namespace touchstone::targets

int main() {
  touchstone::targets::become_worker(touchstone::Index{1} << 30);
  touchstone::targets::BadTarget target;
  touchstone::targets::serve([&](const touchstone::targets::Message& message,
                                 const touchstone::targets::Say& say) {
    touchstone::targets::Question question;
    if (!read(message, question)) return say("nonsense");
    const auto* job = std::get_if<touchstone::targets::Job>(&question);
    if (!job) return say(write(touchstone::targets::Description{"bad", "1"}));
    if (job->model.filename() == "nonsense") return say("nonsense");
    while (job->model.filename() == "phases") say(write(touchstone::targets::Phase::run));
    say(write(run_job(target, *job, [&](touchstone::targets::Phase phase) { say(write(phase)); })));
  });
  return 0;
}
