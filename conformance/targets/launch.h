// Maps a target's name on the command line to the command that starts its worker.
#pragma once

#include <string>
#include <vector>

#include "core/shape.h"

namespace touchstone {

struct Launch {
  std::vector<std::string> command;
  std::size_t together;  // cases that share a process: more if starting is slow
};

// Returns the value of an option of a target's name, "" if missing: "fast:isa=avx2" has "isa".
std::string option_of(const std::string& target, const std::string& key);

// Returns the command for a target: "reference", "fast", "onnxruntime", "onnx-reference",
// "backend:MODULE", "python:MODULE:CLASS" or "command:WORDS"; options follow:
// "onnxruntime:relabel=ir". `memory` is a limit in bytes. Throws Error (usage) that lists the
// targets.
Launch launch(const std::string& target, const std::string& self, Index memory);

// Returns the bytes for each of so many workers that share three quarters of the machine's memory.
Index share_of_memory(Index workers);

}  // namespace touchstone
