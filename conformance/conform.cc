// Runs a suite on a pool of threads, each with a worker and a judge as child processes. Large
// models run first and alone, the largest before the others, so that the run does not end with one
// of them. The rest runs in batches that share a process.
#include "conformance/conform.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <thread>

#include "conformance/assess.h"
#include "conformance/suites/line.h"
#include "conformance/suites/weight.h"
#include "conformance/targets/host.h"
#include "core/scratch.h"

namespace touchstone::conformance {
namespace {

constexpr Index big_model = 100'000;  // elements of weights: more than any node case has

using Batch = std::vector<std::size_t>;  // positions in the list of cases

std::vector<Index> weights_of(std::span<const suites::Case> cases) {
  std::vector<Index> weights;
  for (const suites::Case& one : cases)
    weights.push_back(one.line.empty() ? suites::weight_of_model(one.model) : 0);
  return weights;
}

std::vector<Batch> share_out(std::span<const suites::Case> cases, const std::vector<Index>& weights,
                             std::size_t max_together) {
  std::vector<std::size_t> order(cases.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto rest = std::stable_partition(order.begin(), order.end(),
                                          [&](std::size_t k) { return weights[k] > big_model; });
  std::stable_sort(order.begin(), rest,
                   [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
  std::vector<Batch> batches;
  for (auto k = order.begin(); k != rest; ++k) batches.push_back({*k});
  for (auto k = rest; k != order.end(); ++k) {
    if (k == rest || batches.back().size() >= max_together) batches.emplace_back();
    batches.back().push_back(*k);
  }
  return batches;
}

// One judge process, restarted after a case has killed it.
class Judge {
 public:
  Judge(const std::vector<std::string>& command, std::chrono::milliseconds limit)
      : command_(command), limit_(limit) {}

  Assessment assess(const Assignment& assignment) {
    if (!child_ || !child_->alive()) child_ = std::make_unique<targets::Child>(command_);
    targets::Message message;
    Assessment found;
    const targets::IoStatus status =
        child_->exchange(ask(assignment), message, std::chrono::steady_clock::now() + limit_);
    if (status == targets::IoStatus::done && read(message, found)) return found;
    const std::string why =
        child_->alive() ? "its answer is no assessment" : child_->exit_description();
    child_.reset();
    if (!assignment.answer.has_outputs()) return assess_failure(assignment.answer);
    found = {
        "error",
        "harness",
        status == targets::IoStatus::late ? "the judge was too slow" : "the judge ended: " + why,
        {}};
    return found;
  }

 private:
  std::vector<std::string> command_;
  std::chrono::milliseconds limit_;
  std::unique_ptr<targets::Child> child_;
};

class Pool {
 public:
  Pool(std::span<const suites::Case> cases, const ConformOptions& options,
       const OnResult& on_result)
      : cases_(cases),
        options_(options),
        on_result_(on_result),
        budget_(current_budget()),
        weights_(weights_of(cases)),
        batches_(share_out(cases, weights_, options.together)),
        results_(cases.size()) {}

  std::vector<CaseResult> run() {
    const Index most = std::max<Index>(1, static_cast<Index>(batches_.size()));
    std::vector<std::jthread> threads;
    for (Index k = 0; k < std::clamp<Index>(options_.jobs, 1, most); ++k) {
      threads.emplace_back([this] { work(); });
    }
    threads.clear();  // joins
    if (failure_) std::rethrow_exception(failure_);
    return std::move(results_);
  }

 private:
  void work() {
    try {
      const BudgetScope scope(budget_);
      std::optional<targets::Host> host;
      if (!options_.worker.empty()) host.emplace(options_.worker, options_.timeout);
      Judge judge(options_.judge, options_.timeout);
      for (std::size_t next = taken_++; next < batches_.size(); next = taken_++)
        run_batch(host, judge, batches_[next]);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      taken_ = batches_.size();  // no thread begins another batch
    }
  }

  void run_batch(std::optional<targets::Host>& host, Judge& judge, const Batch& batch) {
    const Scratch scratch;
    std::vector<suites::Case> cases;
    for (const std::size_t k : batch) {
      cases.push_back(cases_[k].line.empty()
                          ? cases_[k]
                          : suites::write_line(cases_[k], scratch.path() / std::to_string(k)));
    }
    std::vector<targets::Job> jobs;
    for (const suites::Case& one : cases) {
      for (const suites::DataSet& data : one.data)
        jobs.push_back({one.model, data.inputs, options_.runs});
    }
    const targets::Answer itself{.kind = targets::Answer::Kind::expected};
    const std::vector<targets::Answer> answers =
        host ? host->run(jobs) : std::vector<targets::Answer>(jobs.size(), itself);
    std::size_t answer = 0;
    for (std::size_t b = 0; b < batch.size(); ++b) {
      const suites::Case& one = cases[b];
      const bool taps = host && weights_[batch[b]] <= big_model;  // large ones run once only
      Assessment all{"error", "harness", "the case has no test data", {}};
      std::set<std::string> kernels;
      std::string ran;  // "reference" if any data set ran so
      for (std::size_t d = 0; d < one.data.size(); ++d) {
        const suites::DataSet& data = one.data[d];
        if (ran.empty() || answers[answer].ran == "reference") ran = answers[answer].ran;
        kernels.insert(answers[answer].kernels.begin(), answers[answer].kernels.end());
        const Assessment found =
            assess({one.model, data.inputs, data.outputs, one.rtol, one.atol, answers[answer++],
                    suites::rule_of_line(one.line), taps ? scratch.path() / "tapped.onnx" : ""},
                   judge, host);
        all = d == 0 ? found : worse(all, found);
      }
      CaseResult& result = results_[batch[b]];
      result = {one.name,        one.kind,   all.compat, all.verdict,
                all.utilisation, all.detail, all.judged, all.subject,
                all.values,      one.places, ran,        {kernels.begin(), kernels.end()}};
      const std::lock_guard lock(mutex_);
      if (on_result_) on_result_(result);
    }
  }

  // Runs the target once more if the judge requests every value.
  static Assessment assess(Assignment assignment, Judge& judge,
                           std::optional<targets::Host>& host) {
    const Assessment found = judge.assess(assignment);
    if (!found.tapped) return found;
    assignment.taps = host->run_here({assignment.tapped_model, assignment.inputs});
    return judge.assess(assignment);
  }

  std::span<const suites::Case> cases_;
  const ConformOptions& options_;
  const OnResult& on_result_;
  Budget* const budget_;  // the caller's: cancelling it stops every thread
  std::vector<Index> weights_;
  std::vector<Batch> batches_;
  std::vector<CaseResult> results_;
  std::atomic<std::size_t> taken_{0};
  std::mutex mutex_;
  std::exception_ptr failure_;
};

}  // namespace

std::vector<CaseResult> conform(std::span<const suites::Case> cases, const ConformOptions& options,
                                const OnResult& on_result) {
  return Pool(cases, options, on_result).run();
}

Index usable_processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

}  // namespace touchstone::conformance
