// Reads lines of cases (conformance/suites/line.h), runs each on the reference and prints a JSON
// row a line: the rule that refuses it ("" if none does), and the coverage that it adds.
//
// `fresh`: in an instrumented build (TOUCHSTONE_COUNTED), the number of kernel blocks that no
// earlier line of the same version and types (`kind`) reached. In a build with the judge, on
// request: `judged`, the verdict on the reference's outputs, and the mutants that the line kills.
// These are `faults` (faults.h) that no earlier line of its kind killed, and `forms` (refusals.h)
// that no earlier line of its version killed; or `all` of them.
//
//   lines_probe SECONDS [new | all] < lines
#include <fmt/format.h>
#include <sys/time.h>

#include <algorithm>
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
#ifdef TOUCHSTONE_JUDGED
#include "tests/lines/killed_mutants.h"
#include "tests/lines/refusals.h"
#endif

extern "C" const char __executable_start, etext;

namespace {

// One mark for each byte of code, and the offsets that were marked since the last reset.
std::vector<bool>* marks = nullptr;
std::vector<std::uint32_t> marked;

}  // namespace

// The compiler inserts a call of this function into every block of a kernel.
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

constexpr Index max_elements = 20'000;  // of all outputs together: cases are small

Limits small() {
  Limits limits = Limits::trusted();
  limits.elements = 1'000'000;
  limits.bytes = 16'000'000;
  limits.loop_iterations = 10'000;
  return limits;
}

// Returns the blocks that ran since the last call and resets the marks.
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

// Runs a valid line and adds the types of its outputs to the row, and "large" if they exceed the
// limit.
void run_line(const suites::LineModel& made, Json& row) {
  std::map<std::string, Value> feeds;
  for (std::size_t k = 0; k < made.feeds.size(); ++k)
    feeds[made.model.graph.inputs[k].name] = made.feeds[k];
  const auto given = run(made.model, std::move(feeds), RunOptions{current_limits(), {}});
  Index all = 0;
  row["types"] = Json::array();
  for (const std::string& name : made.model.graph.nodes.front().outputs) {
    row["types"].push_back(name.empty() ? "" : text(given.at(name).type()));
    if (!name.empty()) all += elements_of(given.at(name));
  }
  if (all > max_elements) row["large"] = all;
}

// Versions have kernels in common, and kernels types: coverage is counted for each version and
// types.
std::string kind_of(const suites::Line& line, const Json& types) {
  std::string text =
      fmt::format("{}.{}-{}", line.signature->domain, line.signature->op, line.signature->since);
  for (const suites::LinePort& port : line.inputs)
    text += port.value.absent() ? " _" : " " + touchstone::text(port.value.type());
  return text + " -> " + types.dump();
}

struct Seen {
  std::map<std::string, std::set<std::uint32_t>> blocks;
  std::map<std::string, std::set<std::string>> faults;
  std::map<const Signature*, std::set<std::string>> forms;
};

std::size_t fresh_of(const std::vector<std::uint32_t>& blocks, std::set<std::uint32_t>& before) {
  std::size_t fresh = 0;
  for (const std::uint32_t block : blocks) fresh += before.insert(block).second ? 1U : 0U;
  return fresh;
}

#ifdef TOUCHSTONE_JUDGED
// The case's node with its input values.
Given given_of(const suites::LineModel& made) {
  const Graph& graph = made.model.graph;
  Given right{graph.nodes.front(), {}};
  for (const std::string& name : right.node.inputs) {
    const auto held = graph.initializers.find(name);
    const auto fed = std::ranges::find(graph.inputs, name, &ValueInfo::name);
    if (name.empty())
      right.inputs.emplace_back();
    else if (held != graph.initializers.end())
      right.inputs.emplace_back(held->second);
    else
      right.inputs.push_back(made.feeds[static_cast<std::size_t>(fed - graph.inputs.begin())]);
  }
  return right;
}
#endif

// Tells which faults and forms the judge refuses at this line, in a program that has the judge.
void judge_line([[maybe_unused]] const suites::Line& line,
                [[maybe_unused]] const suites::LineModel& made, [[maybe_unused]] bool all,
                [[maybe_unused]] Seen& seen, [[maybe_unused]] Json& row) {
#ifdef TOUCHSTONE_JUDGED
  std::set<std::string>& known = seen.faults[row["kind"]];
  const KilledMutants killed =
      find_killed_mutants(given_of(made), all ? std::set<std::string>{} : known);
  row["judged"] = judge::name(killed.verdict);
  row["faults"] = killed.faults;
  row["forms"] = Json::array();
  if (!judge::is_pass(killed.verdict)) return;
  known.insert(killed.faults.begin(), killed.faults.end());
  for (const std::string& form : refusals_of(line, made.model.graph.nodes.front()))
    if (seen.forms[line.signature].insert(form).second || all) row["forms"].push_back(form);
#endif
}

// The row of one line. A large line counts as unseen, since callers discard it.
Json outcome(const std::string& text, const std::string& mutants, Seen& seen) {
  Json row;
  try {
    const suites::Line line = suites::parse_line(text);
    try {
      const Limits limits = small();
      const LimitsScope scope(limits);
      suites::LineModel made = suites::model_of(line);
      require_valid(made.model, limits);
      reached();  // blocks that shape inference ran do not count for the kernel
      run_line(made, row);
      row["rule"] = "";
      const std::vector<std::uint32_t> blocks = reached();
      if (row.contains("large")) return row;
      const std::string kind = kind_of(line, row["types"]);
      row["fresh"] = fresh_of(blocks, seen.blocks[kind]);
      row["kind"] = kind;
      if (!mutants.empty()) judge_line(line, made, mutants == "all", seen, row);
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
  const std::string mutants = count > 2 ? words[2] : "";
  for (std::string line; std::getline(std::cin, line);) {
    // Kills the process if a line does not end; the caller counts the rows. The limit is CPU time.
    const itimerval limit{{0, 0}, {std::stol(words[1]), 0}};
    setitimer(ITIMER_PROF, &limit, nullptr);
    fmt::print("{}\n", touchstone::outcome(line, mutants, seen)
                           .dump(-1, ' ', false, touchstone::Json::error_handler_t::replace));
    std::fflush(stdout);
  }
  marks = nullptr;
  return 0;
}
