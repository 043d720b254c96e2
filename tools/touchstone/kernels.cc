// Prints kernels of nodes, and warns of slow ones.
#include "tools/touchstone/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "tools/touchstone/command.h"

namespace touchstone::command {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_warned = 20;
constexpr optimized::KernelGrade grades[] = {
    optimized::KernelGrade::tuned, optimized::KernelGrade::generic,
    optimized::KernelGrade::reference, optimized::KernelGrade::view,
    optimized::KernelGrade::folded};

std::string shown(const Json& text) { return printable(text.get<std::string>()); }

std::string nodes(std::size_t count) {
  return fmt::format("{} node{}", count, count == 1 ? "" : "s");
}

// Microseconds of all steps.
double total_of(std::span<const optimized::Timing> timings) {
  double total = 0;
  for (const optimized::Timing& timing : timings) {
    if (timing.thread == optimized::no_value) total += timing.end - timing.begin;
  }
  return total;
}

}  // namespace

Json kernels_report(const std::vector<optimized::NodePlacement>& rows,
                    std::span<const optimized::Timing> timings) {
  Json report{{"nodes", Json::array()}, {"counts", Json::object()}};
  for (const optimized::KernelGrade grade : grades) report["counts"][std::string(name(grade))] = 0;
  for (const optimized::NodePlacement& row : rows) {
    Json node{{"node", row.node},
              {"version", row.version},
              {"kernel", row.kernel},
              {"class", name(row.grade)},
              {"kind", row.grade == optimized::KernelGrade::folded ? "" : name(row.kernel_class)}};
    if (!row.why.empty()) node["why"] = row.why;
    if (row.microseconds > 0) node["microseconds"] = row.microseconds;
    report["nodes"].push_back(std::move(node));
    Json& count = report["counts"][std::string(name(row.grade))];
    count = count.get<int>() + 1;
  }
  if (!timings.empty()) report["microseconds"] = total_of(timings);
  return report;
}

void print_kernels(const Json& report) {
  fmt::print("{}\n", styled(Stream::out, Style::bold, "kernels"));
  for (const Json& node : report["nodes"]) {
    const std::string why = node.contains("why") ? ": " + shown(node["why"]) : "";
    fmt::print("  {:<9}  {:<40}  {}{}\n", shown(node["class"]), shown(node["kernel"]),
               shown(node["node"]), why);
  }
  std::string counts;
  for (const auto& [name, count] : report["counts"].items())
    counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count.get<int>(), name);
  fmt::print("{} after passes: {}\n", nodes(report["nodes"].size()), counts);
}

Json slow_nodes(const std::vector<optimized::NodePlacement>& rows,
                std::span<const optimized::Timing> timings) {
  const double total = total_of(timings);
  std::vector<const optimized::NodePlacement*> slow;
  for (const optimized::NodePlacement& row : rows) {
    if (row.grade == optimized::KernelGrade::reference) slow.push_back(&row);
  }
  std::stable_sort(slow.begin(), slow.end(),
                   [](const auto* a, const auto* b) { return a->microseconds > b->microseconds; });
  Json found = Json::array();
  for (const optimized::NodePlacement* const row : slow) {
    found.push_back({{"node", row->node},
                     {"version", row->version},
                     {"share", total > 0 ? std::min(row->microseconds / total, 1.0) : 0.0},
                     {"why", row->why}});
  }
  return found;
}

void warn_slow(const Json& slow) {
  if (slow.empty()) return;
  double share = 0;
  for (const Json& row : slow) share += row["share"].get<double>();
  inform("{}: {} ran on reference kernels, {:.1f} % of the time\n",
         styled(Stream::err, Style::yellow, "warning"), nodes(slow.size()),
         100 * std::min(share, 1.0));
  for (std::size_t k = 0; k < std::min(slow.size(), most_warned); ++k) {
    inform("  {:5.1f} %  {}: {}\n", 100 * slow[k]["share"].get<double>(), shown(slow[k]["node"]),
           shown(slow[k]["why"]));
  }
  if (slow.size() > most_warned) inform("  and {} more\n", slow.size() - most_warned);
  inform("  help  docs/kernels.md has the kernels by operator and element type\n");
}

}  // namespace touchstone::command
