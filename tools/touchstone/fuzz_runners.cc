// Each process that runs cases gets a folder of its own.
#include "tools/touchstone/fuzz_runners.h"

#include <unistd.h>

#include <algorithm>

#include "conformance/targets/host.h"
#include "conformance/targets/launch.h"
#include "core/error.h"
#include "optimized/registry/isa.h"
#include "tools/touchstone/own_target.h"

namespace touchstone::command {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds worker_limit{20};  // of each phase of a case
constexpr Index worker_batch = 2000;              // a start may take a second

fs::path own_folder(const fs::path& scratch) {
  const fs::path folder = scratch / std::to_string(::getpid());
  fs::create_directories(folder);
  return folder;
}

// Returns the target's name with options that precede its own: the first one of a name counts.
std::string with_options(const std::string& target, const std::string& options) {
  const std::size_t end = std::min(target.find(':'), target.size());
  return target.substr(0, end) + ":" + options + target.substr(end);
}

// Returns a runner of the fast executor with more options. A process has one instruction set, so
// that of another one runs in a worker.
std::unique_ptr<fuzz::Runner> other_runner(const std::string& target, const std::string& options,
                                           const fs::path& folder, Index memory) {
  const std::string name = with_options(target, options);
  const fs::path own = own_folder(folder) / options;
  fs::create_directories(own);
  const std::string isa = targets::option_of(options, "isa");
  if (isa.empty()) return fuzz::run_in_process(own_target(name, 1), own);
  optimized::choose_isa(isa);  // refuses an unavailable one
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  const std::string threads = targets::option_of(target, "threads").empty() ? ":threads=1" : "";
  return fuzz::run_in_worker(targets::launch(name + threads, self, memory).command, worker_limit,
                             own);
}

std::unique_ptr<fuzz::Runner> own_runner(const std::string& target, const fs::path& folder,
                                         Index memory) {
  std::unique_ptr<fuzz::Runner> made =
      fuzz::run_in_process(own_target(target, 1), own_folder(folder));
  if (target != "reference")
    made->make_other = [target, folder, memory](const std::string& options) {
      return other_runner(target, options, folder, memory);
    };
  return made;
}

}  // namespace

fs::path folder_in_memory() {
  const fs::path shared = "/dev/shm";
  return ::access(shared.c_str(), W_OK) == 0 ? shared : fs::temp_directory_path();
}

FuzzTarget fuzz_target(const std::string& target, const Scratch& scratch) {
  const fs::path folder = scratch.path();
  FuzzTarget made;
  if (own_target(target)) {
    made.version = TOUCHSTONE_VERSION;
    made.make_runner = [target, folder, memory = made.limits.memory] {
      return own_runner(target, folder, memory);
    };
    return made;
  }
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  const targets::Launch started = targets::launch(target, self, made.limits.memory);
  if (started.command.empty())
    throw Error(ErrorKind::usage, "the target '" + target + "' runs nothing");
  std::shared_ptr<const targets::Starter> starter;  // of this process, before it forks
  if (!started.starter.empty()) starter = std::make_shared<const targets::Starter>(started.starter);
  made.version = targets::Host(started.command, worker_limit, starter).describe().version;
  made.make_runner = [command = started.command, folder, starter] {
    return fuzz::run_in_worker(command, worker_limit, own_folder(folder), starter);
  };
  made.limits.waiting = 150;  // three phases, twice, and the start of a worker
  made.limits.memory = 0;     // the worker limits its own
  if (!starter) made.batch = worker_batch;
  return made;
}

}  // namespace touchstone::command
