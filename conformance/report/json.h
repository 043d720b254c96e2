// Results as JSON: the objects of `conform --json` and `judge --json`, and the lines of `--log`,
// which can be read back to go on.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "conformance/blame.h"
#include "conformance/results.h"
#include "core/json.h"

namespace touchstone {

// JSON has no infinity and no NaN.
nlohmann::ordered_json number_or_null(std::optional<double> value);

nlohmann::ordered_json to_json(const CaseResult& result);
nlohmann::ordered_json to_json(const Summary& summary);
nlohmann::ordered_json conform_object(
    std::span<const TargetRun> runs);  // "schema": "touchstone.conform/1"

nlohmann::ordered_json to_json(const Comparison& comparison);  // of `judge --json`
nlohmann::ordered_json to_json(const Blame& blame);            // "schema": "touchstone.blame/1"

// One line of a log, with the target and the suite that it belongs to.
std::string log_line(const std::string& target, const std::string& suite, const CaseResult& result);

// The results of one target and suite in a log's text. A last line cut short by a crash is passed
// over.
std::vector<CaseResult> read_log(std::string_view text, const std::string& target,
                                 const std::string& suite);

}  // namespace touchstone
