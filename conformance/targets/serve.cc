// One loop for every target, so that no target knows of sockets, files or limits.
#include "conformance/targets/serve.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <new>

#include "model/model.h"

namespace touchstone {
namespace {

constexpr rlim_t most_printed = rlim_t{64} << 20;

std::string words(const Error& error) {
  return error.place.empty() ? error.message : error.message + " at " + error.place;
}

}  // namespace

void become_worker(Index memory_bytes) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core{0, 0}, printed{most_printed, most_printed};
  setrlimit(RLIMIT_CORE, &no_core);
  setrlimit(RLIMIT_FSIZE, &printed);
  if (memory_bytes > 0) {
    const rlimit data{static_cast<rlim_t>(memory_bytes), static_cast<rlim_t>(memory_bytes)};
    setrlimit(RLIMIT_DATA, &data);
  }
}

void serve(const std::function<Message(const Message&)>& reply) {
  Message question;
  while (receive_message(0, question) == Passage::done) {
    if (send_message(0, reply(question)) != Passage::done) return;
  }
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
    throw Error(ErrorKind::file, "the case has " + std::to_string(files) + " inputs, its model only " +
                                     std::to_string(ports.size()));
  }
  return {ports.begin(), ports.begin() + static_cast<std::ptrdiff_t>(files)};
}

Answer run_job(Target& target, const Job& job) {
  Answer answer;
  answer.kind = Answer::Kind::refused;
  try {
    answer.phase = Phase::load;
    const std::unique_ptr<LoadedModel> model = target.load(job.model);

    answer.phase = Phase::feed;
    const std::vector<Port> ports = fed_ports(model->inputs(), job.inputs.size());
    std::map<std::string, Value> feeds;
    std::map<std::string, std::string> before;
    for (std::size_t k = 0; k < ports.size(); ++k) {
      feeds[ports[k].name] = load_value(job.inputs[k], ports[k].type, Limits::trusted());
      before[ports[k].name] = serialize_value(feeds[ports[k].name]);
    }

    answer.phase = Phase::run;
    const std::map<std::string, Value> outputs = model->run(feeds);
    for (const auto& [name, value] : outputs) {
      if (value.absent()) continue;
      answer.outputs.push_back({name, text(value.type()), serialize_value(value)});
    }
    answer.kind = Answer::Kind::outputs;
    for (const auto& [name, bytes] : before) {
      if (serialize_value(feeds[name]) == bytes) continue;
      answer.kind = Answer::Kind::wrote_input;
      answer.detail = "input '" + name + "' is not what it was before the run";
    }
    return answer;
  } catch (const Error& error) {
    answer.error = error.kind;
    answer.detail = words(error);
  } catch (const std::bad_alloc&) {
    answer.error = ErrorKind::out_of_memory;
    answer.detail = "memory ran out";
  } catch (const std::exception& error) {
    answer.error = ErrorKind::internal;
    answer.detail = error.what();
  }
  answer.kind = Answer::Kind::refused;
  answer.outputs.clear();
  return answer;
}

}  // namespace touchstone
