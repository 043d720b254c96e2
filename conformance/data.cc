// Looks beside the program first, then upwards for the cache that CMake keeps in a build folder.
#include "conformance/data.h"

#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>

#include "core/error.h"
#include "core/files.h"

extern char** environ;

namespace touchstone::conformance {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// Returns the source folder of a build, as its cache names it.
fs::path source_of_build(const fs::path& build) {
  const std::string text = open_trusted(build / "CMakeCache.txt").read_all(Limits::trusted());
  constexpr std::string_view key = "\nCMAKE_HOME_DIRECTORY:INTERNAL=";
  const std::size_t at = text.find(key);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + key.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

bool has_data(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_directory(folder / "conformance/suites", ignored);
}

}  // namespace

fs::path data_folder_for(const fs::path& program_folder) {
  if (const std::string chosen = variable("TOUCHSTONE_DATA"); !chosen.empty()) return chosen;
  if (const fs::path beside = program_folder.parent_path() / "share/touchstone"; has_data(beside))
    return beside;
  for (fs::path folder = program_folder;; folder = folder.parent_path()) {
    std::error_code ignored;
    if (fs::is_regular_file(folder / "CMakeCache.txt", ignored)) {
      if (const fs::path source = source_of_build(folder); has_data(source)) return source;
    }
    if (folder == folder.parent_path()) break;
  }
  throw Error(ErrorKind::file, "the data files of touchstone are not beside its program in '" +
                                   program_folder.string() + "'")
      .with_help("TOUCHSTONE_DATA names the folder share/touchstone of an installation");
}

const fs::path& data_folder() {
  static const fs::path folder = data_folder_for(fs::read_symlink("/proc/self/exe").parent_path());
  return folder;
}

std::string python_of(const std::string& environment) {
  if (std::string chosen = variable("TOUCHSTONE_PYTHON"); !chosen.empty()) return chosen;
  const fs::path own = data_folder() / environment / "bin/python";
  return fs::exists(own) ? own.string() : "python3";
}

std::string python_of_runtime(const std::string& name) {
  std::string python = python_of(".venv-" + name);
  if (python != "python3") return python;
  throw Error(ErrorKind::file, "the environment of '" + name + "' is not there")
      .with_help("touchstone doctor --install " + name +
                 " makes it, or TOUCHSTONE_PYTHON names an interpreter that has the runtime");
}

int run_beside_data(const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, data_folder().c_str());
  posix_spawn_file_actions_adddup2(&actions, 2, 1);
  pid_t process = -1;
  const int failed = posix_spawnp(&process, words[0], &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return failed;
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace touchstone::conformance
