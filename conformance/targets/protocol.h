// The questions and answers that travel as messages: run this case, here is what came out, or why
// nothing did. target.proto is their form; this is what the rest of the program sees of it.
#pragma once

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "conformance/targets/message.h"
#include "core/error.h"

namespace touchstone {

// One model with one set of inputs.
struct Job {
  std::filesystem::path model;
  std::vector<std::filesystem::path> inputs;
  unsigned runs = 1;
};

struct About {};
using Question = std::variant<About, Job>;

// An output as it travels: the value's own type, and its bytes as the standard writes them.
struct Output {
  std::string name, type, bytes;
};

enum class Phase {
  load,
  feed,
  run
};  // feed: reading the case's inputs, which is our work and not the target's

struct Answer {
  enum class Kind {
    outputs,
    refused,      // the target said why: error
    wrote_input,  // it ran, and an input is not what it was
    differed,     // it ran, and a later run gave other outputs; these are the first run's
    died,
    late,
    garbled,   // it wrote over its own messages
    expected,  // no target ran: what the case expects is itself to be judged
  };
  Kind kind = Kind::died;
  std::vector<Output> outputs;
  Phase phase = Phase::run;
  ErrorKind error = ErrorKind::internal;
  std::string detail;
  std::string
      note;  // what was done to the model before it was loaded: "IR version 14 stamped down to 13"
  std::string ran;  // on which kernels, where the target says so: LoadedModel::ran
  std::vector<std::string> kernels = {};  // LoadedModel::kernels

  bool has_outputs() const {
    return (kind <= Kind::differed && kind != Kind::refused) || kind == Kind::expected;
  }
};

struct Description {
  std::string name, version;
};

using Reply = std::variant<Description, Phase, Answer>;  // a phase: it begins

Message write(const Question& question);
bool read(const Message& message, Question& question);  // false: not such a message

Message write(const Reply& reply);
// Of kinds of answers it takes only those that are a worker's to say.
bool read(const Message& message, Reply& reply);

}  // namespace touchstone
