// The registry of sources: one line for each level.
#include "fuzz/source_of.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>

#include "conformance/suites/maker.h"
#include "core/nearest.h"
#include "fuzz/graph/graph_source.h"
#include "fuzz/line_source.h"
#include "fuzz/meta/meta_source.h"
#include "fuzz/op/source.h"
#include "model/schema.h"

namespace touchstone::fuzz {
namespace {

using Make = std::unique_ptr<Source> (*)(const std::string& ops, const std::string& target);

std::unique_ptr<Source> make_lines(const std::string& ops, const std::string&) {
  return std::make_unique<LineSource>(suites::lines_of_spec(), ops);
}

std::unique_ptr<Source> operators_that(const std::string& ops, OperatorOptions options) {
  const auto all = all_signatures();
  const auto is_match = [&](const Signature& one) {
    const std::string domain = one.domain.empty() ? "" : std::string(one.domain) + ".";
    return matches_operator(ops, domain + std::string(one.op) + "-" + std::to_string(one.since));
  };
  if (std::none_of(all.begin(), all.end(), is_match)) throw no_operator(ops);
  if (!ops.empty()) options.versions = ops.find('-') == std::string::npos ? ops + "-*" : ops;
  return std::make_unique<OperatorSource>(options);
}

std::unique_ptr<Source> make_operators(const std::string& ops, const std::string&) {
  return operators_that(ops, {});
}

std::unique_ptr<Source> make_graphs(const std::string& ops, const std::string&) {
  if (!ops.empty())
    throw Error(ErrorKind::unsupported, "the source of graphs does not select operators")
        .with_help("--ops is for the levels op and lines");
  return std::make_unique<GraphSource>();
}

// With a pattern of operators, its cases have one node.
std::unique_ptr<Source> make_pairs(const std::string& ops, const std::string& target) {
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(operators_that(ops, {.invalid_percent = 0}));
  if (ops.empty()) sources.push_back(std::make_unique<GraphSource>());
  const bool fast = target.substr(0, target.find(':')) == "fast";
  return std::make_unique<MetaSource>(std::move(sources), fast);
}

struct Level {
  std::string_view name;
  Make make;
};

constexpr std::array levels{
    Level{"op", make_operators},
    Level{"graph", make_graphs},
    Level{"lines", make_lines},
    Level{"meta", make_pairs},
};

}  // namespace

std::unique_ptr<Source> source_of(const std::string& level, const std::string& ops,
                                  const std::string& target) {
  std::vector<std::string_view> known;
  if (level == "bytes")
    throw Error(ErrorKind::unsupported,
                "inputs of level 'bytes' come from libFuzzer, in programs of its own")
        .with_help("make fuzz-bytes builds and runs them (docs/fuzzing.md)");
  for (const Level& one : levels) {
    if (one.name == level) return one.make(ops, target);
    known.push_back(one.name);
  }
  std::string names;
  for (const std::string_view name : known)
    names += (names.empty() ? "" : ", ") + std::string(name);
  throw Error(ErrorKind::usage, "there is no level '" + level + "'")
      .with_help(did_you_mean(level, known) + "levels: " + names);
}

bool matches_operator(const std::string& pattern, const std::string& version) {
  const std::string without = version.substr(0, version.rfind('-'));
  const auto is_match = [&](const std::string& name) {
    return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
  };
  return pattern.empty() || is_match(version) || is_match(without) ||
         is_match(without.substr(without.rfind('.') + 1));
}

Error no_operator(const std::string& pattern) {
  std::vector<std::string_view> known;
  for (const Signature& one : all_signatures()) known.push_back(one.op);
  return Error(ErrorKind::usage, "no operator matches '" + pattern + "'")
      .with_help(did_you_mean(pattern, known) +
                 "a pattern is the name of an operator or of a version, * stands for any part");
}

Limits limits_of_drawn() {
  Limits limits = Limits::fuzz();
  limits.work = 20'000'000;
  limits.milliseconds = 0;
  return limits;
}

}  // namespace touchstone::fuzz
