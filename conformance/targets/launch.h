// Maps a target's name on the command line to the command that starts its worker.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/shape.h"

namespace touchstone::targets {

struct Launch {
  std::vector<std::string> command;
  std::size_t together;                   // cases that share a process: more if starting is slow
  std::vector<std::string> starter = {};  // starts such workers (starter.h); empty: there is none
};

// Returns the value of an option of a target's name, "" if missing: "fast:isa=avx2" has "isa".
std::string option_of(const std::string& target, const std::string& key);

// Returns the targets that are released runtimes. Each has an environment of its own.
std::span<const std::string_view> released_runtimes();

// Returns the command for a target: "reference", "fast", "onnx-reference", a released runtime,
// "backend:MODULE", "python:MODULE:CLASS" or "command:WORDS"; options follow:
// "onnxruntime:relabel=ir". `memory` is a limit in bytes. Throws Error (usage) that lists the
// targets.
Launch launch(const std::string& target, const std::string& self, Index memory);

// Returns the bytes for each of so many workers that share three quarters of the machine's memory.
Index share_of_memory(Index workers);

}  // namespace touchstone::targets
