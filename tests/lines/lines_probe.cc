// Reads lines of cases (conformance/suites/line.h) and says of each, as a JSON line, what the
// reference makes of it: the rule that refuses it, "" if none does, and how many blocks of the
// kernels it reached that no line before it had, of the same version and types. Blocks are counted
// where the kernels were compiled to tell (TOUCHSTONE_COUNTED).
//
//   lines_probe SECONDS < lines
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "conformance/suites/line.h"
#include "core/error.h"
#include "model/model.h"
#include "reference/interpreter.h"

extern "C" const char __executable_start, etext;

namespace {

// One mark for each byte of code, and where those stand that were set since the last time.
std::vector<bool>* marks = nullptr;
std::vector<std::uint32_t> marked;

}  // namespace

// Every block of a kernel calls this.
extern "C" __attribute__((no_sanitize_coverage)) void __sanitizer_cov_trace_pc() {
  const auto* from = static_cast<const char*>(__builtin_return_address(0));
  if (!marks || from < &__executable_start || from >= &etext) return;
  const auto at = static_cast<std::uint32_t>(from - &__executable_start);
  if ((*marks)[at]) return;
  (*marks)[at] = true;
  marked.push_back(at);
}

namespace touchstone {
namespace {

using Json = nlohmann::ordered_json;

constexpr Index most_elements = 20'000;  // of all outputs: a case is small

Limits small() {
  Limits limits = Limits::trusted();
  limits.elements = 1'000'000;
  limits.bytes = 16'000'000;
  limits.loop_iterations = 10'000;
  return limits;
}

// The blocks that ran since the last time.
std::vector<std::uint32_t> reached() {
  for (const std::uint32_t at : marked) (*marks)[at] = false;
  return std::exchange(marked, {});
}

Index elements_of(const Value& value) {
  if (value.is_tensor()) return value.tensor().size();
  Index all = 1;
  if (const auto* sequence = std::get_if<Sequence>(&value.is))
    for (const Value& item : sequence->items) all += elements_of(item);
  return all;
}

void run_line(const Line& line, Json& row) {
  const Limits limits = small();
  const LimitsScope scope(limits);
  LineModel made = model_of(line);
  require_valid(made.model, limits);
  std::map<std::string, Value> feeds;
  for (std::size_t k = 0; k < made.feeds.size(); ++k)
    feeds[made.model.graph.inputs[k].name] = made.feeds[k];
  reached();  // what shape inference ran is no evidence of a kernel
  const auto given = run(made.model, std::move(feeds), RunOptions{limits, {}});
  Index all = 0;
  row["types"] = Json::array();
  for (const std::string& name : made.model.graph.nodes.front().outputs) {
    row["types"].push_back(name.empty() ? "" : text(given.at(name).type()));
    if (!name.empty()) all += elements_of(given.at(name));
  }
  if (all > most_elements) row["large"] = all;
}

// Versions share kernels, and kernels types: each version is to be seen with each.
std::string kind_of(const Line& line) {
  std::string text =
      fmt::format("{}.{}-{}", line.signature->domain, line.signature->op, line.signature->since);
  for (const LinePort& port : line.inputs)
    text += port.value.absent() ? " _" : " " + touchstone::text(port.value.type());
  return text;
}

class Seen {
 public:
  std::size_t add(const std::string& kind, const std::vector<std::uint32_t>& blocks) {
    auto& before = by_kind_[kind];
    std::size_t fresh = 0;
    for (const std::uint32_t block : blocks) fresh += before.insert(block).second ? 1U : 0U;
    return fresh;
  }

 private:
  std::map<std::string, std::set<std::uint32_t>> by_kind_;
};

Json outcome(const std::string& text, Seen& seen) {
  Json row;
  try {
    const Line line = parse_line(text);
    reached();
    try {
      run_line(line, row);
      row["rule"] = "";
      row["fresh"] = seen.add(kind_of(line), reached());
    } catch (const Error& error) {
      row["rule"] =
          error.rule.empty() ? fmt::format("?{}", static_cast<int>(error.kind)) : error.rule;
      row["why"] = error.message;
    }
  } catch (const Error& error) {
    row["broken"] = error.message;
  }
  return row;
}

}  // namespace
}  // namespace touchstone

int main(int count, char** words) {
  if (count < 2) return 2;
  std::vector<bool> all(static_cast<std::size_t>(&etext - &__executable_start));
  marks = &all;
  touchstone::Seen seen;
  for (std::string line; std::getline(std::cin, line);) {
    // One that never ends: who asks sees how many answers came.
    alarm(static_cast<unsigned>(std::stoul(words[1])));
    fmt::print("{}\n", touchstone::outcome(line, seen)
                           .dump(-1, ' ', false, touchstone::Json::error_handler_t::replace));
    std::fflush(stdout);
  }
  marks = nullptr;
  return 0;
}
