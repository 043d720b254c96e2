// Builds the command of each target. Each vendor's Python target runs in an environment of its own,
// selected here; its code is in the folder of worker.py. For arbitrary commands the memory limit is
// set before they start.
#include "conformance/targets/launch.h"

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <sstream>

#include "conformance/data.h"
#include "core/error.h"

namespace touchstone::targets {
namespace {

constexpr std::size_t few = 16, many = 128;
constexpr std::string_view runtimes[] = {"onnxruntime", "openvino", "tvm", "tract"};

// Returns the part of "name:argument:key=value" before the first colon.
std::string head(const std::string& target) { return target.substr(0, target.find(':')); }

Launch any_command(const std::string& line, Index memory) {
  const std::string limits =
      "ulimit -c 0; ulimit -d " + std::to_string(memory / 1024) + "; exec \"$@\"";
  Launch made{{"/bin/sh", "-c", limits, "target"}, few};
  std::istringstream words(line);
  for (std::string word; words >> word;) made.command.push_back(word);
  if (made.command.size() == 4)
    throw Error(ErrorKind::usage, "the target 'command:' names no command");
  return made;
}

Launch python_worker(const std::string& target, Index memory,
                     const std::function<std::string()>& python) {
  const std::string chosen = option_of(target, "python");
  Launch made{{chosen.empty() ? python() : chosen,
               (conformance::data_folder() / "conformance/targets/worker.py").string(), "--target",
               target, "--memory", std::to_string(memory)},
              many};
  made.starter = made.command;
  made.starter.push_back("--starter");
  return made;
}

}  // namespace

// Returns the value of an option, "" if missing: "a:b:python=/x" has "python" = "/x".
std::string option_of(const std::string& target, const std::string& key) {
  std::istringstream parts(target);
  for (std::string part; std::getline(parts, part, ':');) {
    if (part.starts_with(key + "=")) return part.substr(key.size() + 1);
  }
  return "";
}

std::span<const std::string_view> released_runtimes() { return runtimes; }

Launch launch(const std::string& target, const std::string& self, Index memory) {
  const std::string name = head(target);
  if (target == "reference" || name == "fast") {
    const bool slow_start = option_of(target, "device").starts_with("opencl");
    return {{self, "worker", "--target", target, "--memory", std::to_string(memory)},
            slow_start ? many : few};
  }
  if (target == "expectation") return {{}, few};
  if (std::ranges::find(runtimes, name) != std::end(runtimes))
    return python_worker(target, memory, [&] { return conformance::python_of_runtime(name); });
  if (name == "onnx-reference" || name == "backend" || name == "python")
    return python_worker(target, memory, [] { return conformance::python_of(".venv"); });
  if (target.starts_with("command:")) return any_command(target.substr(8), memory);
  throw Error(ErrorKind::usage, "there is no target '" + target + "'")
      .with_help(
          "targets: reference, fast[:isa=ISA][:threads=N][:level=LEVEL][:without=PASS]"
          "[:device=LIST], expectation, onnxruntime, openvino, tvm, tract, "
          "onnx-reference, backend:MODULE, "
          "python:MODULE:CLASS, "
          "command:WORDS; "
          "docs/targets.md says what they take");
}

Index share_of_memory(Index workers) {
  const Index whole = Index{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE);
  return std::max<Index>(whole / 4 * 3 / std::max<Index>(workers, 1), Index{2} << 30);
}

}  // namespace touchstone::targets
