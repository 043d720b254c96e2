// Converts protobuf messages to structs and back. A worker's answer is untrusted input.
#include "conformance/targets/protocol.h"

#include "conformance/targets/wire.h"

namespace touchstone::targets {
namespace {

// Converts an enumeration of the wire, which has the same order as ours. Returns false for a number
// out of range.
template <class E>
bool take_code(int number, E last, E& code) {
  if (number < 0 || number > static_cast<int>(last)) return false;
  code = static_cast<E>(number);
  return true;
}

}  // namespace

void put(const Answer& answer, wire::Answer& to) {
  to.set_kind(static_cast<wire::Answer::Kind>(answer.kind));
  to.set_phase(static_cast<wire::Phase>(answer.phase));
  to.set_error(static_cast<wire::Answer::Error>(answer.error));
  to.set_detail(answer.detail);
  to.set_note(answer.note);
  to.set_ran(answer.ran);
  for (const std::string& kernel : answer.kernels) to.add_kernels(kernel);
  for (const Output& output : answer.outputs) {
    wire::Output& one = *to.add_outputs();
    one.set_name(output.name);
    one.set_type(output.type);
    one.set_value(output.bytes);
  }
}

bool take(const wire::Answer& from, Answer& answer) {
  answer = {};
  if (!take_code(from.kind(), Answer::Kind::expected, answer.kind) ||
      !take_code(from.phase(), Phase::run, answer.phase) ||
      !take_code(from.error(), ErrorKind::internal, answer.error)) {
    return false;
  }
  answer.detail = from.detail();
  answer.note = from.note();
  answer.ran = from.ran();
  answer.kernels.assign(from.kernels().begin(), from.kernels().end());
  for (const wire::Output& output : from.outputs()) {
    answer.outputs.push_back({output.name(), output.type(), output.value()});
  }
  return true;
}

Message write(const Question& question) {
  wire::Question message;
  if (const Job* job = std::get_if<Job>(&question)) {
    message.mutable_job()->set_model(job->model.string());
    message.mutable_job()->set_runs(job->runs);
    for (const auto& input : job->inputs) message.mutable_job()->add_inputs(input.string());
  } else {
    message.mutable_about();
  }
  return message.SerializeAsString();
}

bool read(const Message& message, Question& question) {
  wire::Question came;
  if (!came.ParseFromString(message)) return false;
  if (came.has_about()) {
    question = About{};
    return true;
  }
  if (!came.has_job()) return false;
  Job job{came.job().model(), {}, came.job().runs()};
  for (const std::string& input : came.job().inputs()) job.inputs.emplace_back(input);
  question = std::move(job);
  return true;
}

Message write(const Reply& reply) {
  wire::Reply message;
  if (const Description* said = std::get_if<Description>(&reply)) {
    message.mutable_description()->set_name(said->name);
    message.mutable_description()->set_version(said->version);
  } else if (const Phase* phase = std::get_if<Phase>(&reply)) {
    message.set_reached(static_cast<wire::Phase>(*phase));
  } else {
    put(std::get<Answer>(reply), *message.mutable_answer());
  }
  return message.SerializeAsString();
}

bool read(const Message& message, Reply& reply) {
  wire::Reply came;
  if (!came.ParseFromString(message)) return false;
  switch (came.is_case()) {
    case wire::Reply::kDescription: {
      reply = Description{came.description().name(), came.description().version()};
      return true;
    }
    case wire::Reply::kReached: {
      Phase phase;
      if (!take_code(came.reached(), Phase::run, phase)) return false;
      reply = phase;
      return true;
    }
    case wire::Reply::kAnswer: {
      Answer answer;
      if (!take(came.answer(), answer) || answer.kind > Answer::Kind::differed) return false;
      reply = std::move(answer);
      return true;
    }
    case wire::Reply::IS_NOT_SET:
      break;
  }
  return false;
}

}  // namespace touchstone::targets
