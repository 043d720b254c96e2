// Formats the results of a run as tables for a terminal of 120 columns.
#include "conformance/tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/types.h"

namespace touchstone::conformance {
namespace {

std::string word_of(const std::string& verdict) { return verdict.substr(0, verdict.find('(')); }

// In a suite of several releases the kind follows the release: "1.6.0/node".
std::string last_part(const std::string& kind) { return kind.substr(kind.rfind('/') + 1); }

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (c == 0)
        line += fmt::format("  {:<{}}", row[c], widths[c]);
      else
        line += fmt::format("  {:>{}}", row[c], widths[c]);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

bool is_float(const std::string& type) {
  const Type known = type_by_name(type);
  return known != Type::undefined && facts(known).is_float;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::vector<std::string> row(const std::string& title, const Sharpness& of) {
  return {title,
          std::to_string(of.cases),
          std::to_string(of.elements),
          fmt::format("{:.2f} %", 100 * of.open_share()),
          fmt::format("{:.1e}", of.resolution()),
          fmt::format("{:.3g}", of.utilisation()),
          fmt::format("{:.3g}", of.largest_utilisation())};
}

bool is_float_case(const CaseResult& one) { return one.judged && is_float(one.judged->type); }

}  // namespace

void Sharpness::add(const CaseResult& one) {
  ++cases;
  elements += one.judged->elements;
  open += one.judged->open;
  if (one.judged->resolution > 0) resolutions.push_back(one.judged->resolution);
  if (one.utilisation && standing(one.verdict) == Standing::pass)
    utilisations.push_back(*one.utilisation);
}

double Sharpness::open_share() const {
  return elements > 0 ? static_cast<double>(open) / static_cast<double>(elements) : 0;
}
double Sharpness::resolution() const { return median(resolutions); }
double Sharpness::utilisation() const { return median(utilisations); }
double Sharpness::largest_utilisation() const {
  return utilisations.empty() ? 0 : *std::max_element(utilisations.begin(), utilisations.end());
}

Sharpness sharpness(const std::vector<CaseResult>& cases) {
  Sharpness all;
  for (const CaseResult& one : cases) {
    if (is_float_case(one)) all.add(one);
  }
  return all;
}

std::string sharpness_line(const std::vector<CaseResult>& cases) {
  const Sharpness all = sharpness(cases);
  if (all.cases == 0) return "";
  const std::string resolution =
      all.resolution() > 0 ? fmt::format("2^{:.1f}", std::log2(all.resolution())) : "0";
  return fmt::format(
      "{} cases of one float node: {:.2f} % of {} elements open, median resolution {}, utilisation "
      "{:.2g}, at most {:.2g}",
      all.cases, 100 * all.open_share(), all.elements, resolution, all.utilisation(),
      all.largest_utilisation());
}

std::string verdict_table(const std::vector<CaseResult>& cases) {
  std::set<std::string> verdicts;
  std::map<std::string, std::map<std::string, std::map<std::string, Index>>>
      counts;  // kind, operator family, verdict
  for (const CaseResult& one : cases) {
    const std::string verdict = word_of(one.verdict);
    verdicts.insert(verdict);
    ++counts[last_part(one.kind)][one.judged ? one.judged->form : "(no single node)"][verdict];
  }
  std::vector<std::vector<std::string>> rows{{"kind, form", "cases"}};
  rows[0].insert(rows[0].end(), verdicts.begin(), verdicts.end());
  const auto add = [&](const std::string& title, const std::map<std::string, Index>& found) {
    Index all = 0;
    for (const auto& [verdict, count] : found) all += count;
    std::vector<std::string> row{title, std::to_string(all)};
    for (const std::string& verdict : verdicts)
      row.push_back(found.contains(verdict) ? std::to_string(found.at(verdict)) : "");
    rows.push_back(std::move(row));
  };
  for (const auto& [kind, forms] : counts) {
    std::map<std::string, Index> whole;
    for (const auto& [form, found] : forms) {
      for (const auto& [verdict, count] : found) whole[verdict] += count;
    }
    add(kind.empty() ? "case" : kind, whole);
    for (const auto& [form, found] : forms) add("  " + form, found);
  }
  return table(rows);
}

std::string share_line(const std::vector<CaseResult>& cases) {
  const FastShare::Of all = fast_share(cases).all;
  if (all.cases == 0) return "";
  const std::string none = all.views + all.folded == 0
                               ? ""
                               : fmt::format("; {} needed none ({} views, {} folded)",
                                             all.views + all.folded, all.views, all.folded);
  return fmt::format(
      "{} of {} cases of one node that reads float32 ran it on fast kernels: {:.1f} %{}", all.fast,
      all.cases, 100 * static_cast<double>(all.fast) / static_cast<double>(all.cases), none);
}

std::string share_table(const std::vector<CaseResult>& cases) {
  const FastShare share = fast_share(cases);
  if (share.all.cases == 0) return "";
  std::vector<std::pair<std::string, FastShare::Of>> operators(share.operators.begin(),
                                                               share.operators.end());
  std::stable_sort(operators.begin(), operators.end(), [](const auto& a, const auto& b) {
    return a.second.reference() > b.second.reference();
  });
  std::vector<std::vector<std::string>> rows{
      {"operator, float32", "cases", "fast", "view", "folded", "reference"}};
  operators.emplace_back("all", share.all);
  for (const auto& [op, of] : operators)
    rows.push_back({op, std::to_string(of.cases), std::to_string(of.fast), std::to_string(of.views),
                    std::to_string(of.folded), std::to_string(of.reference())});
  return table(rows);
}

std::string kernel_line(const std::vector<CaseResult>& cases) {
  std::vector<std::string> counts;
  for (const auto& [kernel, count] : kernel_counts(cases))
    counts.push_back(fmt::format("{} {}", count, kernel));
  return fmt::format("{}", fmt::join(counts, ", "));
}

std::string sharpness_table(const std::vector<CaseResult>& cases) {
  std::map<std::string, Sharpness> groups;
  Sharpness all;
  for (const CaseResult& one : cases) {
    if (!is_float_case(one)) continue;
    groups[one.judged->form + ", " + one.judged->type].add(one);
    all.add(one);
  }
  if (all.cases == 0) return "";
  std::vector<std::vector<std::string>> rows{
      {"form, type", "cases", "elements", "open", "resolution", "utilisation", "largest"}};
  for (const auto& [title, group] : groups) rows.push_back(row(title, group));
  rows.push_back(row("all floats", all));
  return table(rows);
}

}  // namespace touchstone::conformance
