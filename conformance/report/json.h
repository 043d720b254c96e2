// Results as JSON: the objects of `conform --json` and `judge --json`, and the lines of `--log`,
// from which a run can resume.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "conformance/blame.h"
#include "conformance/results.h"
#include "core/json.h"

namespace touchstone::report {

// Returns null for infinity and NaN, which JSON lacks.
nlohmann::ordered_json number_or_null(std::optional<double> value);

nlohmann::ordered_json to_json(const conformance::CaseResult& result);
nlohmann::ordered_json to_json(const conformance::Summary& summary);
nlohmann::ordered_json conform_object(
    std::span<const conformance::TargetRun> runs);  // "schema": "touchstone.conform/1"

nlohmann::ordered_json to_json(const judge::Comparison& comparison);  // object of `judge --json`
nlohmann::ordered_json to_json(const conformance::Blame& blame);  // "schema": "touchstone.blame/1"

// Returns one line of a log, with its target and suite.
std::string log_line(const std::string& target, const std::string& suite,
                     const conformance::CaseResult& result);

// Returns the results of one target and suite from a log's text. Skips a last line cut short by a
// crash.
std::vector<conformance::CaseResult> read_log(std::string_view text, const std::string& target,
                                              const std::string& suite);

}  // namespace touchstone::report
