// Reads waivers strictly: a fault waived by mistake would stay unnoticed.
#include "conformance/waivers.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <chrono>

#include "core/error.h"
#include "core/json.h"

namespace touchstone::conformance {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::string_view schema = "touchstone.waivers/1";

Error wrong(const std::string& file, const std::string& what) {
  return Error(ErrorKind::usage, "'" + file + "': " + what)
      .with_help(
          R"({"schema": "touchstone.waivers/1", "waivers": [{"target": "onnxruntime", "suite": "onnx@1.23.2", )"
          R"("case": "test_a*", "link": "https://...", "reason": "...", "expires": "2027-03-31"}]})");
}

bool is_day(const std::string& text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  const auto number = [&](std::size_t from, std::size_t length) {
    int value = 0;
    for (std::size_t k = from; k < from + length; ++k) {
      if (text[k] < '0' || text[k] > '9') return -1;
      value = 10 * value + (text[k] - '0');
    }
    return value;
  };
  const int year = number(0, 4), month = number(5, 2), day = number(8, 2);
  if (year < 0 || month < 0 || day < 0) return false;
  return std::chrono::year_month_day(std::chrono::year(year),
                                     std::chrono::month(static_cast<unsigned>(month)),
                                     std::chrono::day(static_cast<unsigned>(day)))
      .ok();
}

Waiver read_row(const Json& row, const std::string& file, std::size_t k, std::string_view today) {
  Waiver made;
  const std::pair<const char*, std::string*> keys[] = {
      {"target", &made.target}, {"suite", &made.suite},   {"case", &made.pattern},
      {"link", &made.link},     {"reason", &made.reason}, {"expires", &made.expires}};
  const std::string place = fmt::format("waiver {}", k + 1);
  if (!row.is_object()) throw wrong(file, place + " is no object");
  for (const auto& [key, value] : row.items()) {
    const auto known =
        std::ranges::find_if(keys, [&name = key](const auto& one) { return name == one.first; });
    if (known == std::end(keys))
      throw wrong(file, place + " has a key '" + key + "' that is not known");
    if (!value.is_string()) throw wrong(file, place + ": '" + key + "' is no text");
    *known->second = value.get<std::string>();
  }
  for (const auto& [key, value] : keys) {
    if (value->empty() && value != &made.suite) throw wrong(file, place + " has no '" + key + "'");
  }
  if (!made.link.starts_with("https://") && !made.link.starts_with("http://"))
    throw wrong(file, place + ": '" + made.link + "' is no link");
  if (!is_day(made.expires))
    throw wrong(file, place + ": '" + made.expires + "' is no day like 2027-03-31");
  if (made.expires < today)
    throw wrong(file, fmt::format("{}, of {} on {}, expired on {}", place, made.pattern,
                                  made.target, made.expires));
  return made;
}

}  // namespace

std::vector<Waiver> read_waivers(std::string_view text, const std::string& file,
                                 std::string_view today) {
  const Json all = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!all.is_object() || !all.contains("schema") || all["schema"] != schema ||
      !all.contains("waivers") || !all["waivers"].is_array() || all.size() != 2) {
    throw wrong(file, fmt::format("no JSON object of schema {} with waivers", schema));
  }
  std::vector<Waiver> waivers;
  for (const Json& row : all["waivers"])
    waivers.push_back(read_row(row, file, waivers.size(), today));
  return waivers;
}

std::vector<Index> waive(std::span<const Waiver> waivers, TargetRun& run) {
  std::vector<Index> counts(waivers.size(), 0);
  const std::string runtime = run.target.substr(0, run.target.find(':'));
  for (CaseResult& result : run.cases) {
    if (standing(result.verdict) != Standing::fail) continue;
    for (std::size_t k = 0; k < waivers.size(); ++k) {
      const Waiver& one = waivers[k];
      const bool here = (one.target == run.target || one.target == runtime) &&
                        (one.suite.empty() || one.suite == run.suite);
      if (!here || fnmatch(one.pattern.c_str(), result.name.c_str(), 0) != 0) continue;
      result.detail =
          fmt::format("waived until {}: {} ({}); it was {}{}{}", one.expires, one.reason, one.link,
                      result.verdict, result.detail.empty() ? "" : ": ", result.detail);
      result.verdict = judge::name(judge::Verdict::waived);
      ++counts[k];
      break;
    }
  }
  return counts;
}

std::string today() {
  const std::chrono::year_month_day day(
      std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()));
  return fmt::format("{:04}-{:02}-{:02}", int(day.year()), unsigned(day.month()),
                     unsigned(day.day()));
}

}  // namespace touchstone::conformance
