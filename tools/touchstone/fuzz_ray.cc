// Starts the driver in a process group of its own: Ctrl-C reaches it alone, and not Ray's
// processes.
#include "tools/touchstone/fuzz_ray.h"

#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "conformance/data.h"
#include "core/error.h"
#include "fuzz/state.h"
#include "tools/touchstone/command.h"
#include "tools/touchstone/limits.h"

extern char** environ;

namespace touchstone::command {
namespace {

namespace fs = std::filesystem;

constexpr useconds_t pause = 50'000;  // microseconds

fs::path folder_of(const RayShards& shards, Index shard) {
  return shards.folder / fmt::format("shard-{}", shard);
}

std::vector<std::string> driver_of(const RayShards& shards) {
  std::vector<std::string> words{conformance::python_of(".venv-ray"),
                                 (conformance::data_folder() / "fuzz/ray_driver.py").string(),
                                 "--ray",
                                 shards.address,
                                 "--workers",
                                 std::to_string(shards.workers),
                                 "--cpus",
                                 std::to_string(shards.jobs),
                                 "--dir",
                                 shards.folder.string()};
  if (!says(Verbosity::normal)) words.emplace_back("--quiet");
  words.insert(words.end(), {"--", fs::read_symlink("/proc/self/exe").string()});
  words.insert(words.end(), shards.words.begin(), shards.words.end());
  return words;
}

// Starts a process whose standard output is `output`.
pid_t start(const std::vector<std::string>& command, int output) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t process = -1;
  const int failed = posix_spawnp(&process, words[0], &actions, &attributes, words.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0)
    throw Error(ErrorKind::file, fmt::format("cannot start '{}': {}", words[0], strerror(failed)));
  return process;
}

// Waits for the driver's end, and passes Ctrl-C on to it once. Returns its status.
int wait_for(pid_t process) {
  bool is_told = false;
  for (int status = 0;;) {
    if (::waitpid(process, &status, WNOHANG) == process) return status;
    if (!is_told && is_cancelled()) {
      ::kill(process, SIGINT);
      is_told = true;
    }
    ::usleep(pause);
  }
}

ErrorKind kind_of(int exit) {
  for (const ErrorKind kind : {ErrorKind::usage, ErrorKind::invalid_model, ErrorKind::unsupported,
                               ErrorKind::limit, ErrorKind::file}) {
    if (static_cast<int>(exit_code(kind)) == exit) return kind;
  }
  return ErrorKind::internal;
}

// Returns what the driver printed: what went wrong, then help, one line each.
Error error_of(int status, int output) {
  std::array<char, 4096> bytes{};
  const ssize_t size = ::pread(output, bytes.data(), bytes.size(), 0);
  const std::string text(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  const std::size_t end = std::min(text.find('\n'), text.size());
  if (text.empty() || !WIFEXITED(status))
    return Error(ErrorKind::internal, fmt::format("the driver of Ray ended with {}", status));
  const std::string help = text.substr(std::min(end + 1, text.size()));
  return Error(kind_of(WEXITSTATUS(status)), text.substr(0, end))
      .with_help(help.substr(0, help.find('\n')));
}

}  // namespace

std::vector<std::string> RayShards::begun() const {
  std::vector<std::string> all;
  for (Index k = 0; k < workers; ++k) {
    if (const fs::path one = folder_of(*this, k); fuzz::has_state(one)) all.push_back(one.string());
  }
  return all;
}

bool run_on_ray(const RayShards& shards) {
  const int output = ::memfd_create("driver", MFD_CLOEXEC);
  if (output < 0) throw Error(ErrorKind::file, "no file for the driver of Ray");
  const int status = wait_for(start(driver_of(shards), output));
  const bool is_stopped =
      WIFEXITED(status) && WEXITSTATUS(status) == static_cast<int>(ExitCode::interrupted);
  if (WIFEXITED(status) && (WEXITSTATUS(status) == 0 || is_stopped)) {
    ::close(output);
    return !is_stopped;
  }
  const Error error = error_of(status, output);
  ::close(output);
  throw error;
}

}  // namespace touchstone::command
