// The questions and answers that travel as messages: run this case, here is what came out, or why nothing did.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "conformance/targets/message.h"
#include "core/error.h"

namespace touchstone {

// One model with one set of inputs.
struct Job {
  std::filesystem::path model;
  std::vector<std::filesystem::path> inputs;
};

// An output as it travels: the value's own type, and its bytes as the standard writes them.
struct Output {
  std::string name, type, bytes;
};

enum class Phase { load, feed, run };  // feed: reading the case's inputs, which is our work and not the target's

struct Answer {
  enum class Kind {
    outputs,
    refused,      // the target said why: error
    wrote_input,  // it ran, and an input is not what it was
    died,
    late,
    garbled,  // it wrote over its own messages
  };
  Kind kind = Kind::died;
  std::vector<Output> outputs;
  Phase phase = Phase::run;
  ErrorKind error = ErrorKind::internal;
  std::string detail;
};

Message ask(const Job& job);
bool read(const Message& message, Job& job);  // false: not such a message

Message tell(const Answer& answer);
bool read(const Message& message, Answer& answer);

}  // namespace touchstone
