// From a target's name on the command line to the command that starts its worker.
#pragma once

#include <string>
#include <vector>

#include "core/shape.h"

namespace touchstone {

struct Launch {
  std::vector<std::string> command;
  std::size_t together;  // cases that share a process: more where a start takes long
};

// "reference", "fast", "onnxruntime", "onnx-reference", "backend:MODULE", "python:MODULE:CLASS",
// "command:WORDS"; options follow: "onnxruntime:relabel=ir". `memory` is a limit in bytes. Throws
// Error (usage), naming the targets there are.
// The value of one option of a target's name, "" if it is not there: "fast:isa=avx2" has "isa".
std::string option_of(const std::string& target, const std::string& key);

Launch launch(const std::string& target, const std::string& self, Index memory);

// Three quarters of the machine's memory, shared by so many workers: bytes for each.
Index share_of_memory(Index workers);

}  // namespace touchstone
