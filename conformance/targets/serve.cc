// Message loop and job execution shared by all targets, so that no target handles sockets, files or
// limits.
#include "conformance/targets/serve.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <new>
#include <stdexcept>

#include "model/model.h"

namespace touchstone::targets {
namespace {

constexpr rlim_t max_printed = rlim_t{64} << 20;

std::string words(const Error& error) {
  return error.place.empty() ? error.message : error.message + " at " + error.place;
}

}  // namespace

#if defined(__SANITIZE_ADDRESS__)
constexpr bool counts_shadow = true;
#elif defined(__has_feature)
constexpr bool counts_shadow = __has_feature(address_sanitizer);
#else
constexpr bool counts_shadow = false;
#endif

void become_worker(Index memory_bytes) {
  dup2(STDERR_FILENO, STDOUT_FILENO);  // answers are written to the socket, which is also stdin
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core{0, 0}, printed{max_printed, max_printed};
  setrlimit(RLIMIT_CORE, &no_core);
  setrlimit(RLIMIT_FSIZE, &printed);
  // A sanitizer's shadow memory reserves terabytes, of which little is ever touched.
  if (memory_bytes > 0 && !counts_shadow) {
    const rlimit data{static_cast<rlim_t>(memory_bytes), static_cast<rlim_t>(memory_bytes)};
    setrlimit(RLIMIT_DATA, &data);
  }
}

void serve(const std::function<void(const Message&, const Say&)>& reply) {
  Message question;
  bool there = true;
  const Say say = [&](const Message& answer) {
    there = there && send_message(0, answer) == IoStatus::done;
  };
  while (there && receive_message(0, question) == IoStatus::done) reply(question, say);
}

void serve(Target& target) {
  serve([&](const Message& message, const Say& say) {
    Question question;
    if (!read(message, question)) BUG("the host asked what is no question");
    if (const Job* job = std::get_if<Job>(&question)) {
      say(write(run_job(target, *job, [&](Phase phase) { say(write(phase)); })));
    } else {
      say(write(Description{target.name(), target.version()}));
    }
  });
}

std::vector<Port> fed_ports(const std::vector<Port>& ports, std::size_t files) {
  std::vector<Port> bare;
  for (const Port& port : ports) {
    if (!port.has_default) bare.push_back(port);
  }
  if (files <= bare.size()) {
    bare.resize(files);
    return bare;
  }
  if (files > ports.size()) {
    throw Error(ErrorKind::file, "the case has " + std::to_string(files) +
                                     " inputs, its model only " + std::to_string(ports.size()));
  }
  return {ports.begin(), ports.begin() + static_cast<std::ptrdiff_t>(files)};
}

namespace {

std::vector<Output> written(const std::map<std::string, Value>& values) {
  std::vector<Output> outputs;
  for (const auto& [name, value] : values) {
    if (!value.absent()) outputs.push_back({name, text(value.type()), serialize_value(value)});
  }
  return outputs;
}

// Describes how a later run differs, "" if it is equal.
std::string difference(const std::vector<Output>& first, const std::vector<Output>& later) {
  if (first.size() != later.size()) return "another number of outputs";
  for (std::size_t k = 0; k < first.size(); ++k) {
    if (first[k].name != later[k].name) return "outputs of other names";
    if (first[k].type != later[k].type || first[k].bytes != later[k].bytes)
      return "another '" + first[k].name + "'";
  }
  return "";
}

struct Feeds {
  std::map<std::string, Value> values;
  std::map<std::string, std::string> before;

  Feeds(const std::vector<Port>& ports, const std::vector<std::filesystem::path>& files) {
    for (std::size_t k = 0; k < ports.size(); ++k) {
      values[ports[k].name] = load_value(files[k], ports[k].type, Limits::trusted());
      before[ports[k].name] = serialize_value(values[ports[k].name]);
    }
  }

  std::string written_to() const {
    for (const auto& [name, bytes] : before) {
      if (serialize_value(values.at(name)) != bytes) return name;
    }
    return "";
  }
};

// Long runs are not repeated: small cases of the same operators detect nondeterminism too.
constexpr std::chrono::seconds long_run{2};

void run_loaded(LoadedModel& model, const Feeds& feeds, unsigned runs, Answer& answer) {
  const auto began = std::chrono::steady_clock::now();
  answer.outputs = written(model.run(feeds.values));
  if (std::chrono::steady_clock::now() - began > long_run) runs = 1;
  answer.kind = Answer::Kind::outputs;
  answer.ran = model.ran();
  answer.kernels = model.kernels();
  for (unsigned k = 1;; ++k) {
    if (const std::string name = feeds.written_to(); !name.empty()) {
      answer.kind = Answer::Kind::wrote_input;
      answer.detail = "input '" + name + "' is not what it was before the run";
      return;
    }
    if (k >= runs) return;
    const std::string what = difference(answer.outputs, written(model.run(feeds.values)));
    if (what.empty()) continue;
    answer.kind = Answer::Kind::differed;
    answer.detail = "run " + std::to_string(k + 1) + " on the same inputs gave " + what;
    return;
  }
}

}  // namespace

Answer run_job(Target& target, const Job& job, const std::function<void(Phase)>& reached) {
  Answer answer;
  const auto enter = [&](Phase phase) { reached(answer.phase = phase); };
  try {
    enter(Phase::load);
    const std::unique_ptr<LoadedModel> model = target.load(job.model);
    enter(Phase::feed);
    const Feeds feeds(fed_ports(model->inputs(), job.inputs.size()), job.inputs);
    enter(Phase::run);
    run_loaded(*model, feeds, job.runs, answer);
    return answer;
  } catch (const Error& error) {
    answer.error = error.kind;
    answer.detail = words(error);
  } catch (const std::bad_alloc&) {
    answer.error = ErrorKind::out_of_memory;
    answer.detail = "memory ran out";
  } catch (const std::length_error&) {
    answer.error = ErrorKind::out_of_memory;
    answer.detail = "more is asked for than memory can hold";
  } catch (const std::exception& error) {
    answer.error = ErrorKind::internal;
    answer.detail = error.what();
  }
  answer.kind = Answer::Kind::refused;
  answer.outputs.clear();
  return answer;
}

}  // namespace touchstone::targets
