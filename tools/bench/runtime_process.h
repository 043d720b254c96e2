// A runtime in a process of its own, driven by the bench.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "conformance/targets/child.h"
#include "core/tensor.h"
#include "tools/bench/messages.h"

namespace touchstone::bench {

// Reason why a runtime left the benchmark, most severe first: it determines the exit code of the
// bench.
enum class FailureKind { wrong, crashed, late, unsupported, failed };
std::string_view name(FailureKind kind);

struct RuntimeFailure {
  FailureKind kind;
  std::string why;
};

// Returns the command that starts a runtime's process: one of ours by name, `command:WORDS`, or a
// peer that has a file in tools/bench/vendors/. Throws Error: usage for any other name, file for a
// peer without an environment.
std::vector<std::string> start_of(const std::string& runtime, const std::string& self);

class RuntimeProcess {
 public:
  RuntimeProcess(std::string runtime, std::vector<std::string> command,
                 std::chrono::milliseconds limit)
      : runtime_(std::move(runtime)), command_(std::move(command)), limit_(limit) {}

  // These throw RuntimeFailure if no answer or an invalid one arrives.
  OpenAnswer open(const OpenRequest& request, const std::function<void()>& before = nullptr);
  std::vector<double> run(const std::vector<Index>& sets);
  void begin(const std::vector<Index>& sets);  // the two halves of run
  std::vector<double> end();
  std::map<std::string, Value> show(Index run, const std::filesystem::path& folder);
  Weight weigh();
  void close() { child_.reset(); }

  const std::string& runtime() const { return runtime_; }

 private:
  template <class Answer>
  Answer hear();
  template <class Answer, class Request>
  Answer exchange(const Request& request);
  void say(const targets::Message& message);
  [[noreturn]] void fail(targets::IoStatus status);

  std::string runtime_;
  std::vector<std::string> command_;
  std::chrono::milliseconds limit_;
  std::unique_ptr<targets::Child> child_;
  std::size_t asked_ = 0;  // runs of the last begin()
};

}  // namespace touchstone::bench
