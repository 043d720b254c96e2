// Runners of the fuzzer's cases for the targets of the command line.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "core/scratch.h"
#include "fuzz/examiner.h"

namespace touchstone::command {

struct FuzzTarget {
  std::string version;
  fuzz::MakeRunner make_runner;
  fuzz::ExaminerOptions limits;
  Index batch = 200;  // cases of one process
};

// Prepares a target: our own run in the fuzzer's forked processes, any other in workers of its own.
// `scratch` must outlive the runners. Throws Error: usage for an unknown target, file if it does
// not start.
FuzzTarget fuzz_target(const std::string& target, const Scratch& scratch);

// Returns the folder for exchanged files: in memory, if the machine has one.
std::filesystem::path folder_in_memory();

}  // namespace touchstone::command
