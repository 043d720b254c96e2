// Reads lines of cases (conformance/suites/line.h) and says of each, as a JSON line, what the reference makes of it: the rule that
// refuses it, "" if none does, and which sides of the definition it reached that no line before it had, where the kernels were
// compiled to tell (-fsanitize-coverage=trace-pc).
//
//   lines_probe [SECONDS] < lines
#include <fmt/format.h>
#include <unistd.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_set>

#include "conformance/suites/line.h"
#include "core/error.h"
#include "model/model.h"
#include "reference/interpreter.h"

namespace {

std::unordered_set<std::uintptr_t> reached;
bool watching = false;

}  // namespace

// Called by what was compiled so at the start of every block.
extern "C" __attribute__((no_sanitize_coverage)) void __sanitizer_cov_trace_pc() {
  if (!watching) return;
  watching = false;
  reached.insert(reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)));
  watching = true;
}

namespace touchstone {
namespace {

using Json = nlohmann::ordered_json;

// By version: versions share kernels, and each is to be seen everywhere.
std::map<const Signature*, std::unordered_set<std::uintptr_t>> seen;

void run_line(const Line& line) {
  LineModel made = model_of(line);
  require_valid(made.model, Limits::trusted());
  std::map<std::string, Value> feeds;
  for (std::size_t k = 0; k < made.feeds.size(); ++k) feeds[made.model.graph.inputs[k].name] = made.feeds[k];
  watching = true;
  run(made.model, std::move(feeds), RunOptions{Limits::trusted(), {}});
  watching = false;
}

Json outcome(const std::string& text) {
  Json row;
  reached.clear();
  try {
    const Line line = parse_line(text);
    try {
      run_line(line);
      row["rule"] = "";
    } catch (const Error& error) {
      watching = false;
      row["rule"] = error.rule.empty() ? fmt::format("?{}", static_cast<int>(error.kind)) : error.rule;
      row["why"] = error.message;
    }
    auto& before = seen[line.signature];
    std::size_t fresh = 0;
    for (const std::uintptr_t place : reached) fresh += before.insert(place).second ? 1U : 0U;
    row["fresh"] = fresh;
  } catch (const Error& error) {
    row["broken"] = error.message;
  }
  return row;
}

}  // namespace
}  // namespace touchstone

int main(int count, char** words) {
  const unsigned seconds = count > 1 ? static_cast<unsigned>(std::stoul(words[1])) : 5;
  for (std::string line; std::getline(std::cin, line);) {
    alarm(seconds);  // one that never ends: who asks sees how many answers came
    fmt::print("{}\n", touchstone::outcome(line).dump(-1, ' ', false, touchstone::Json::error_handler_t::replace));
    std::fflush(stdout);
  }
  return 0;
}
