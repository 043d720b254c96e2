// Writes results as JSON. Field names are a contract (touchstone.conform/1); the schema's test
// repeats them.
#include "conformance/report/json.h"

#include <cmath>

#include "conformance/explanations.h"
#include "conformance/tables.h"

namespace touchstone::report {
namespace {

using Json = nlohmann::ordered_json;

Json with_explanations(const std::string& target, const std::string& suite,
                       const conformance::CaseResult& result) {
  Json object = to_json(result);
  object["explained"] = conformance::explained_by(target, suite, result);
  return object;
}

Json share_json(const conformance::FastShare::Of& of) {
  return {{"cases", of.cases}, {"fast", of.fast}, {"views", of.views}, {"folded", of.folded}};
}

Json with_explanations(const conformance::TargetRun& run) {
  const conformance::ToExplain counts = conformance::to_explain(run);
  Json object = to_json(conformance::summarise(run.cases));
  if (const conformance::Sharpness floats = conformance::sharpness(run.cases); floats.cases > 0) {
    object["floats"] = {{"cases", floats.cases},
                        {"elements", floats.elements},
                        {"open", floats.open},
                        {"resolution", floats.resolution()},
                        {"utilisation", floats.utilisation()},
                        {"largest_utilisation", floats.largest_utilisation()}};
  }
  if (const conformance::FastShare share = conformance::fast_share(run.cases);
      share.all.cases > 0) {
    object["float32"] = share_json(share.all);
    for (const auto& [op, of] : share.operators)
      object["float32"]["operators"][op] = share_json(of);
  }
  if (const auto kernels = conformance::kernel_counts(run.cases); !kernels.empty())
    object["kernels"] = kernels;
  object["to_explain"] = counts.cases;
  object["unexplained"] = counts.unexplained;
  object["target_fault"] = counts.target_fault;
  return object;
}

}  // namespace

Json number_or_null(std::optional<double> value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

Json to_json(const conformance::CaseResult& result) {
  Json values = Json::array();
  for (const conformance::Shown& row : result.values)
    values.push_back(Json::array({row.place, row.expected, row.actual}));
  Json object{{"name", result.name},
              {"kind", result.kind},
              {"compat", result.compat},
              {"verdict", result.verdict},
              {"utilisation", number_or_null(result.utilisation)},
              {"detail", result.detail},
              {"op", result.subject.op},
              {"since", result.subject.since},
              {"values", std::move(values)}};
  if (!result.ran.empty()) object["ran"] = result.ran;
  if (!result.kernels.empty()) object["kernels"] = result.kernels;
  if (result.judged) {
    const conformance::JudgedNode& j = *result.judged;
    object["judged"] = {{"node", j.node}, {"form", j.form},
                        {"type", j.type}, {"elements", j.elements},
                        {"open", j.open}, {"resolution", number_or_null(j.resolution)}};
  }
  return object;
}

Json to_json(const conformance::Summary& summary) {
  Json object{{"cases", summary.cases}};
  for (const conformance::Standing one :
       {conformance::Standing::pass, conformance::Standing::fail, conformance::Standing::open,
        conformance::Standing::unsupported, conformance::Standing::mistrusted,
        conformance::Standing::waived, conformance::Standing::harness}) {
    object[std::string(conformance::name(one))] = summary.of(one);
  }
  object["rate"] = number_or_null(summary.rate());
  object["verdicts"] = summary.verdicts;
  object["compat"] = summary.compat;
  return object;
}

Json conform_object(std::span<const conformance::TargetRun> runs) {
  Json object{{"schema", "touchstone.conform/1"}, {"runs", Json::array()}};
  for (const conformance::TargetRun& run : runs) {
    Json cases = Json::array();
    for (const conformance::CaseResult& result : run.cases)
      cases.push_back(with_explanations(run.target, run.suite, result));
    object["runs"].push_back({{"target", run.target},
                              {"version", run.version},
                              {"suite", run.suite},
                              {"summary", with_explanations(run)},
                              {"cases", std::move(cases)}});
  }
  return object;
}

std::string log_line(const std::string& target, const std::string& suite,
                     const conformance::CaseResult& result) {
  Json line{{"target", target}, {"suite", suite}};
  line.update(with_explanations(target, suite, result));
  return line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::vector<conformance::CaseResult> read_log(std::string_view text, const std::string& target,
                                              const std::string& suite) {
  std::vector<conformance::CaseResult> results;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const Json one = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!one.is_object() || one.value("target", "") != target || one.value("suite", "") != suite)
      continue;
    conformance::CaseResult result{one.value("name", ""),
                                   one.value("kind", ""),
                                   one.value("compat", ""),
                                   one.value("verdict", ""),
                                   {},
                                   one.value("detail", "")};
    result.ran = one.value("ran", "");
    for (const Json& kernel : one.value("kernels", Json::array())) {
      if (kernel.is_string()) result.kernels.push_back(kernel);
    }
    result.subject = {one.value("op", ""), one.value("since", Index{0})};
    for (const Json& row : one.value("values", Json::array())) {
      if (row.is_array() && row.size() == 3 && row[0].is_string() && row[1].is_string() &&
          row[2].is_string()) {
        result.values.push_back({row[0], row[1], row[2]});
      }
    }
    if (const auto found = one.find("utilisation"); found != one.end() && found->is_number()) {
      result.utilisation = found->get<double>();
    }
    if (const auto found = one.find("judged"); found != one.end() && found->is_object()) {
      const Json& j = *found;
      const auto resolution = j.find("resolution");
      result.judged = {
          j.value("node", ""),
          j.value("form", ""),
          j.value("type", ""),
          j.value("elements", Index{0}),
          j.value("open", Index{0}),
          resolution != j.end() && resolution->is_number() ? resolution->get<double>() : 0};
    }
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace touchstone::report
