// Starts peers. Each peer is a Python file in vendors/ with an environment of its own, .venv-NAME;
// the bench has no vendor-specific code.
#include "tools/bench/runtime_process.h"

#include <algorithm>
#include <sstream>

#include "conformance/data.h"
#include "conformance/targets/launch.h"
#include "core/error.h"
#include "core/files.h"
#include "core/npy.h"
#include "tools/bench/ours.h"

namespace touchstone::bench {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> peers() {
  std::vector<std::string> names;
  for (const auto& entry :
       fs::directory_iterator(conformance::data_folder() / "tools/bench/vendors")) {
    if (entry.path().extension() == ".py" && entry.path().stem() != "__init__") {
      names.push_back(entry.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> any_command(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream in(line);
  for (std::string word; in >> word;) words.push_back(word);
  if (words.empty()) throw Error(ErrorKind::usage, "the runtime 'command:' names no command");
  return words;
}

}  // namespace

std::string_view name(FailureKind kind) {
  switch (kind) {
    case FailureKind::wrong:
      return "wrong";
    case FailureKind::crashed:
      return "crashed";
    case FailureKind::late:
      return "late";
    case FailureKind::unsupported:
      return "unsupported";
    case FailureKind::failed:
      return "failed";
  }
  return "failed";
}

std::vector<std::string> start_of(const std::string& runtime, const std::string& self) {
  std::string known;
  for (const OurRuntime& one : our_runtimes()) {
    if (one.name == runtime) return {self, "worker", "--bench", runtime};
    known += one.name + ", ";
  }
  if (runtime.starts_with("command:")) return any_command(runtime.substr(8));
  const std::vector<std::string> vendors = peers();
  if (std::find(vendors.begin(), vendors.end(), runtime) == vendors.end()) {
    for (const std::string& one : vendors) known += one + ", ";
    throw Error(ErrorKind::usage, "there is no runtime '" + runtime + "'")
        .with_help("runtimes: " + known + "command:WORDS");
  }
  return {conformance::python_of_runtime(runtime),
          (conformance::data_folder() / "tools/bench/worker.py").string(), "--runtime", runtime};
}

void RuntimeProcess::fail(targets::IoStatus status) {
  std::string why = child_->exit_description();
  child_.reset();
  switch (status) {
    case targets::IoStatus::late:
      throw RuntimeFailure{FailureKind::late,
                           "no answer within " + std::to_string(limit_.count()) + " ms"};
    case targets::IoStatus::garbled:
      throw RuntimeFailure{FailureKind::crashed, "it wrote over its own messages"};
    case targets::IoStatus::ended:
    case targets::IoStatus::done:
      break;
  }
  throw RuntimeFailure{FailureKind::crashed, std::move(why)};
}

void RuntimeProcess::say(const targets::Message& message) {
  if (!child_) BUG("asked a runtime that was not opened");
  const targets::IoStatus status = child_->send(message, std::chrono::steady_clock::now() + limit_);
  if (status != targets::IoStatus::done) fail(status);
}

template <class Answer>
Answer RuntimeProcess::hear() {
  targets::Message message;
  const targets::IoStatus status =
      child_->receive(message, std::chrono::steady_clock::now() + limit_);
  if (status != targets::IoStatus::done) fail(status);
  Answer answer;
  try {
    read(message, answer);
  } catch (const Error& error) {
    throw RuntimeFailure{
        error.kind == ErrorKind::unsupported ? FailureKind::unsupported : FailureKind::failed,
        error.message};
  }
  return answer;
}

template <class Answer, class Request>
Answer RuntimeProcess::exchange(const Request& request) {
  say(write(request));
  return hear<Answer>();
}

OpenAnswer RuntimeProcess::open(const OpenRequest& request, const std::function<void()>& before) {
  child_.reset();
  child_ = std::make_unique<targets::Child>(command_);
  weigh();  // waits until it has started and imported its modules
  if (before) before();
  return exchange<OpenAnswer>(request);
}

void RuntimeProcess::begin(const std::vector<Index>& sets) {
  asked_ = sets.size();
  say(write(RunRequest{sets}));
}

std::vector<double> RuntimeProcess::end() {
  std::vector<double> seconds = hear<Ran>().seconds;
  if (seconds.size() != asked_) {
    throw RuntimeFailure{FailureKind::failed, "it was asked for " + std::to_string(asked_) +
                                                  " runs and timed " +
                                                  std::to_string(seconds.size())};
  }
  return seconds;
}

std::vector<double> RuntimeProcess::run(const std::vector<Index>& sets) {
  begin(sets);
  return end();
}

std::map<std::string, Value> RuntimeProcess::show(Index run, const fs::path& folder) {
  fs::create_directories(folder);
  std::map<std::string, Value> values;
  for (const NamedFile& one : exchange<Showed>(ShowRequest{run, folder.string()}).outputs) {
    try {
      const std::string bytes = open_trusted(one.file).read_all(Limits::trusted());
      values[one.name] =
          parse_npy(std::as_bytes(std::span(bytes)), Type::undefined, Limits::trusted());
    } catch (const Error& error) {
      throw RuntimeFailure{FailureKind::failed, "output '" + one.name + "': " + error.message};
    }
  }
  return values;
}

Weight RuntimeProcess::weigh() { return exchange<Weight>(WeighRequest{}); }

}  // namespace touchstone::bench
