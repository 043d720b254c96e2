// Targets behind one interface. Models reach them as files, as they reach any runtime.
#include "fuzz/runner.h"

#include <new>
#include <stdexcept>

#include "conformance/assess_nodes.h"
#include "conformance/targets/host.h"
#include "core/budget.h"
#include "core/error.h"
#include "core/files.h"
#include "model/external_data.h"
#include "model/model.h"

namespace touchstone::fuzz {
namespace {

namespace fs = std::filesystem;

std::string in_order(const Feeds& values) {
  std::string bytes;
  for (const auto& [name, value] : values) {
    if (!value.absent()) bytes += name + text(value.type()) + serialize_value(value);
  }
  return bytes;
}

class InProcess : public Runner {
 public:
  InProcess(std::unique_ptr<targets::Target> target, fs::path folder)
      : target_(std::move(target)), file_(std::move(folder) / "model.onnx") {}

  std::vector<Run> run(const Model& model, const std::vector<Feeds>& feeds) override {
    save(model, file_);
    std::vector<Run> runs;
    targets::Phase phase = targets::Phase::load;
    const auto failed = [&](ErrorKind kind, std::string detail) {
      Run last;
      last.answer.kind = targets::Answer::Kind::refused;
      last.answer.phase = phase;
      last.answer.error = kind;
      last.answer.detail = std::move(detail);
      runs.push_back(std::move(last));
      return std::move(runs);
    };
    try {
      const Budget budget(limits_of_target());
      const LimitsScope scope(limits_of_target());
      const std::unique_ptr<targets::LoadedModel> loaded = target_->load(file_);
      phase = targets::Phase::run;
      for (const Feeds& each : feeds) runs.push_back(run_once(*loaded, each));
      if (const std::string first = in_order(runs.front().outputs);
          in_order(run_once(*loaded, feeds.front()).outputs) != first) {
        runs.front().answer.kind = targets::Answer::Kind::differed;
        runs.front().answer.detail = "another run on the same inputs gave other outputs";
      }
      return runs;
    } catch (const Error& error) {
      const std::string where = error.place.empty() ? "" : " at " + error.place;
      return failed(error.kind, error.message + where);
    } catch (const std::bad_alloc&) {
      return failed(ErrorKind::out_of_memory, "memory ran out");
    } catch (const std::length_error&) {
      return failed(ErrorKind::out_of_memory, "more is asked for than memory can hold");
    } catch (const std::exception& error) {
      return failed(ErrorKind::internal, error.what());
    }
  }

 private:
  static Run run_once(targets::LoadedModel& loaded, const Feeds& feeds) {
    const std::string before = in_order(feeds);
    Run made;
    made.outputs = loaded.run(feeds);
    made.answer.kind = targets::Answer::Kind::outputs;
    made.answer.kernels = loaded.kernels();
    if (in_order(feeds) != before) {
      made.answer.kind = targets::Answer::Kind::wrote_input;
      made.answer.detail = "an input is not what it was before the run";
    }
    return made;
  }

  std::unique_ptr<targets::Target> target_;
  fs::path file_;
};

class InWorker : public Runner {
 public:
  InWorker(std::vector<std::string> command, std::chrono::milliseconds limit, fs::path folder,
           std::shared_ptr<const targets::Starter> starter)
      : host_(std::move(command), limit, std::move(starter)), folder_(std::move(folder)) {}

  std::vector<Run> run(const Model& model, const std::vector<Feeds>& feeds) override {
    targets::Job job{folder_ / "model.onnx", {}, 2};
    save(model, job.model);
    std::vector<Run> runs;
    for (const Feeds& each : feeds) {
      job.inputs.clear();
      for (const ValueInfo& input : model.graph.inputs) {
        const auto value = each.find(input.name);
        if (value == each.end()) continue;
        job.inputs.push_back(folder_ / ("input_" + std::to_string(job.inputs.size()) + ".pb"));
        write_atomically(job.inputs.back(), std::string_view(serialize_value(value->second)));
      }
      runs.push_back(run_once(job));
      if (!runs.back().answer.has_outputs()) break;
    }
    return runs;
  }

  bool refuses_by_any_error() const override { return true; }

 private:
  Run run_once(const targets::Job& job) {
    Run made{host_.run_here(job), {}};
    const auto is_fatal = [&] {
      return made.answer.kind == targets::Answer::Kind::died ||
             made.answer.kind == targets::Answer::Kind::garbled;
    };
    if (is_fatal()) made.answer = host_.run_here(job);  // in a fresh worker
    if (made.answer.has_outputs()) made.outputs = conformance::parse_outputs(made.answer.outputs);
    made.answer.outputs.clear();
    return made;
  }

  targets::Host host_;
  fs::path folder_;
};

}  // namespace

Runner& Runner::with(const std::string& options) {
  if (options.empty()) return *this;
  std::unique_ptr<Runner>& other = others_[options];
  if (!other && make_other) other = make_other(options);
  if (!other) throw Error(ErrorKind::unsupported, "the target does not take " + options);
  return *other;
}

void Runner::save(const Model& model, const fs::path& file) const {
  (external ? save_model_and_data : save_model)(model, file);
}

Limits limits_of_case() {
  Limits limits = Limits::untrusted();
  limits.elements = Index{1} << 24;
  limits.memory = Index{1} << 30;
  limits.bytes = Index{1} << 28;
  limits.work = 100'000'000;
  limits.folding_work = 10'000'000;
  limits.loop_iterations = 10'000;
  limits.milliseconds = 30'000;
  return limits;
}

Limits limits_of_target() {
  Limits limits = limits_of_case();
  limits.memory *= 2;
  limits.work *= 3;
  return limits;
}

std::unique_ptr<Runner> run_in_process(std::unique_ptr<targets::Target> target,
                                       const fs::path& folder) {
  return std::make_unique<InProcess>(std::move(target), folder);
}

std::unique_ptr<Runner> run_in_worker(std::vector<std::string> command,
                                      std::chrono::milliseconds limit, const fs::path& folder,
                                      std::shared_ptr<const targets::Starter> starter) {
  return std::make_unique<InWorker>(std::move(command), limit, folder, std::move(starter));
}

}  // namespace touchstone::fuzz
