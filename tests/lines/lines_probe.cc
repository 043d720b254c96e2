// Reads lines of cases (conformance/suites/line.h) and says of each, as a JSON line, what the
// reference makes of it: the rule that refuses it, "" if none does, and how many sides of the
// definition it reached that no line before it had, of the same version and types. Sides are
// counted where the kernels were compiled to tell (clang,
// -fsanitize-coverage=edge,inline-8bit-counters, pc-table); at the end the report names the places
// of those that no line reached.
//
//   lines_probe SECONDS [REPORT] < lines
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "conformance/suites/line.h"
#include "core/error.h"
#include "core/files.h"
#include "model/model.h"
#include "reference/interpreter.h"

namespace {

struct Counters {
  unsigned char *first, *last;
  bool operator==(const Counters&) const = default;
};
struct Places {
  const std::uintptr_t *first, *last;
};
// Filled before main, one of each for a file that was compiled so.
std::vector<Counters>& counters() {
  static std::vector<Counters> all;
  return all;
}
std::vector<Places>& places() {
  static std::vector<Places> all;
  return all;
}

}  // namespace

extern "C" void __sanitizer_cov_8bit_counters_init(unsigned char* first, unsigned char* last) {
  if (first != last &&
      std::find(counters().begin(), counters().end(), Counters{first, last}) == counters().end())
    counters().push_back({first, last});
}
extern "C" void __sanitizer_cov_pcs_init(const std::uintptr_t* first, const std::uintptr_t* last) {
  places().push_back({first, last});
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

// The sides that counted since the last time.
std::vector<std::uint32_t> reached() {
  std::vector<std::uint32_t> found;
  std::uint32_t base = 0;
  for (const Counters& some : counters()) {
    for (unsigned char* at = some.first; at != some.last; ++at) {
      if (*at == 0) continue;
      found.push_back(base + static_cast<std::uint32_t>(at - some.first));
      *at = 0;
    }
    base += static_cast<std::uint32_t>(some.last - some.first);
  }
  return found;
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
  std::size_t add(const std::string& kind, const std::vector<std::uint32_t>& sides) {
    auto& before = by_kind_[kind];
    std::size_t fresh = 0;
    for (const std::uint32_t side : sides) fresh += before.insert(side).second ? 1U : 0U;
    all_.insert(sides.begin(), sides.end());
    return fresh;
  }
  // "0 0x55.." or "1 0x55..": whether a side was reached, and where its code begins.
  std::string report() const {
    std::string text;
    std::uint32_t side = 0;
    for (const Places& some : places()) {
      for (const std::uintptr_t* at = some.first; at != some.last; at += 2, ++side)
        text += fmt::format("{} {:#x}\n", all_.contains(side) ? 1 : 0, at[0]);
    }
    return text;
  }

 private:
  std::map<std::string, std::set<std::uint32_t>> by_kind_;
  std::set<std::uint32_t> all_;
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
  touchstone::Seen seen;
  for (std::string line; std::getline(std::cin, line);) {
    alarm(static_cast<unsigned>(
        std::stoul(words[1])));  // one that never ends: who asks sees how many answers came
    fmt::print("{}\n", touchstone::outcome(line, seen)
                           .dump(-1, ' ', false, touchstone::Json::error_handler_t::replace));
    std::fflush(stdout);
  }
  if (count > 2)
    touchstone::write_atomically(
        words[2], std::string_view(
                      fmt::format("base {}\n{}", reinterpret_cast<void*>(&main), seen.report())));
  return 0;
}
