// Questions and answers between host and worker: a job to run, its outputs, or the reason for
// failure. target.proto defines their wire format; the rest of the program uses these structs.
#pragma once

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "conformance/targets/message.h"
#include "core/error.h"

namespace touchstone::targets {

// One model with one set of inputs.
struct Job {
  std::filesystem::path model;
  std::vector<std::filesystem::path> inputs;
  unsigned runs = 1;
};

struct About {};
using Question = std::variant<About, Job>;

// A serialized output: the value's own type, and its bytes in the standard's format.
struct Output {
  std::string name, type, bytes;
};

enum class Phase {
  load,
  feed,
  run
};  // feed: reading the case's inputs, which is the host's work, not the target's

struct Answer {
  enum class Kind {
    outputs,
    refused,      // the target gave a reason: error
    wrote_input,  // it ran, and modified an input
    differed,     // it ran, and a later run gave other outputs; these are the first run's
    died,
    late,
    garbled,   // it corrupted its own messages
    expected,  // no target ran: the case's own expectation is judged
  };
  Kind kind = Kind::died;
  std::vector<Output> outputs;
  Phase phase = Phase::run;
  ErrorKind error = ErrorKind::internal;
  std::string detail;
  std::string
      note;  // changes made to the model before it was loaded: "IR version 14 stamped down to 13"
  std::string ran;  // kernels that ran, if the target reports them: LoadedModel::ran
  std::vector<std::string> kernels = {};  // LoadedModel::kernels

  bool has_outputs() const {
    return (kind <= Kind::differed && kind != Kind::refused) || kind == Kind::expected;
  }
};

struct Description {
  std::string name, version;
};

using Reply = std::variant<Description, Phase, Answer>;  // Phase: it begins

Message write(const Question& question);
bool read(const Message& message, Question& question);  // false: another message

Message write(const Reply& reply);
// Accepts only those kinds of answers that a worker may send.
bool read(const Message& message, Reply& reply);

}  // namespace touchstone::targets
