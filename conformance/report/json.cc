// Field names are a contract (touchstone.conform/1); they stand here and in the schema's test.
#include "conformance/report/json.h"

#include <cmath>

namespace touchstone {
namespace {

using Json = nlohmann::ordered_json;

Json number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

}  // namespace

Json to_json(const CaseResult& result) {
  Json values = Json::array();
  for (const Shown& row : result.values) values.push_back({row.place, row.expected, row.actual});
  return {{"name", result.name},
          {"kind", result.kind},
          {"compat", result.compat},
          {"verdict", result.verdict},
          {"utilisation", number(result.utilisation)},
          {"detail", result.detail},
          {"op", result.subject.op},
          {"since", result.subject.since},
          {"values", std::move(values)}};
}

Json to_json(const Summary& summary) {
  Json object{{"cases", summary.cases}};
  for (const Standing one : {Standing::pass, Standing::fail, Standing::open, Standing::unsupported,
                             Standing::mistrusted, Standing::waived, Standing::harness}) {
    object[std::string(name(one))] = summary.of(one);
  }
  object["rate"] = number(summary.rate());
  object["verdicts"] = summary.verdicts;
  object["compat"] = summary.compat;
  return object;
}

Json conform_object(std::span<const TargetRun> runs) {
  Json object{{"schema", "touchstone.conform/1"}, {"runs", Json::array()}};
  for (const TargetRun& run : runs) {
    Json cases = Json::array();
    for (const CaseResult& result : run.cases) cases.push_back(to_json(result));
    object["runs"].push_back({{"target", run.target},
                              {"version", run.version},
                              {"suite", run.suite},
                              {"summary", to_json(summarise(run.cases))},
                              {"cases", std::move(cases)}});
  }
  return object;
}

std::string log_line(const std::string& target, const std::string& suite, const CaseResult& result) {
  Json line{{"target", target}, {"suite", suite}};
  line.update(to_json(result));
  return line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::vector<CaseResult> read_log(std::string_view text, const std::string& target, const std::string& suite) {
  std::vector<CaseResult> results;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const Json one = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!one.is_object() || one.value("target", "") != target || one.value("suite", "") != suite) continue;
    CaseResult result{one.value("name", ""),
                      one.value("kind", ""),
                      one.value("compat", ""),
                      one.value("verdict", ""),
                      {},
                      one.value("detail", ""),
                      {one.value("op", ""), one.value("since", Index{0})},
                      {}};
    for (const Json& row : one.value("values", Json::array())) {
      if (row.is_array() && row.size() == 3 && row[0].is_string() && row[1].is_string() && row[2].is_string()) {
        result.values.push_back({row[0], row[1], row[2]});
      }
    }
    if (const auto found = one.find("utilisation"); found != one.end() && found->is_number()) {
      result.utilisation = found->get<double>();
    }
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace touchstone
