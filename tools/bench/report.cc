// Prints the benchmark. Every number is labelled, and an invalid figure is replaced by its reason.
#include "tools/bench/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "conformance/conform.h"
#include "core/proc.h"
#include "tools/bench/statistics.h"
#include "tools/touchstone/command.h"

namespace touchstone::bench {
namespace {

using Json = nlohmann::ordered_json;

bool stands(const Heat& heat, const Figure& figure) {
  return !heat.unfair && !figure.failure && !figure.blocks.empty();
}

double milliseconds(double seconds) { return seconds * 1e3; }
double megabytes(Index bytes) { return static_cast<double>(bytes) / 1e6; }

std::string ratio_text(const Heat& heat, const Figure& figure) {
  const std::optional<Ratio> found = ratio(heat, figure);
  if (!found) return "";
  return fmt::format("{:6.2f}  ({:.2f} to {:.2f})", found->middle, found->low, found->high);
}

// Returns a text with the number of loads behind the medians.
std::string loads_text(const Heat& heat) {
  std::size_t loads = 0;
  for (const Figure& figure : heat.figures) loads = std::max(loads, figure.loads.size());
  return loads == 0 ? "" : fmt::format("; load: median of {}", loads);
}

}  // namespace

std::optional<Ratio> ratio(const Heat& heat, const Figure& peer) {
  const Figure& ours = heat.figures.front();
  if (&ours == &peer || !stands(heat, ours) || !stands(heat, peer)) return std::nullopt;
  const std::vector<double> rounds = ratios(peer.blocks, ours.blocks);
  return Ratio{median(rounds), percentile(rounds, 0.25), percentile(rounds, 0.75)};
}

std::vector<Mean> means(const std::vector<Heat>& heats) {
  std::map<std::pair<Index, std::string>, std::pair<Mean, std::vector<double>>> found;
  for (const Heat& heat : heats) {
    for (const Figure& figure : heat.figures) {
      const std::optional<Ratio> one = ratio(heat, figure);
      if (!one) continue;
      auto& [mean, all] = found[{heat.threads, figure.runtime}];
      if (all.empty() || one->middle < mean.least) {
        mean = {figure.runtime, heat.threads, 0, 0, one->middle, heat.model};
      }
      all.push_back(one->middle);
    }
  }
  std::vector<Mean> out;
  for (auto& [key, value] : found) {
    value.first.models = static_cast<Index>(value.second.size());
    value.first.ratio = geometric_mean(value.second);
    out.push_back(value.first);
  }
  return out;
}

std::string machine() {
  const std::string text = read_proc("/proc/cpuinfo");
  const std::size_t at = text.find("model name");
  const std::size_t from = at == std::string::npos ? at : text.find(": ", at);
  const std::string processor = from == std::string::npos
                                    ? "a processor without a name"
                                    : text.substr(from + 2, text.find('\n', from) - from - 2);
  return fmt::format("{}, {} usable", processor, conformance::usable_processors());
}

void print(const Heat& heat) {
  fmt::print(
      "{}, {} thread{}{}\n",
      command::styled(command::Stream::out, command::Style::bold, command::printable(heat.model)),
      heat.threads, heat.threads == 1 ? "" : "s", loads_text(heat));
  if (heat.unfair) {
    fmt::print("  {}: {}\n",
               command::styled(command::Stream::out, command::Style::red, "no figure"),
               command::printable(heat.unfair->why));
  }
  fmt::print("  {:<14}{:>11}{:>10}{:>10}{:>10}{:>9}{:>9}  ratio (quartiles)\n", "", "median ms",
             "p95 ms", "load ms", "first ms", "peak MB", "judged");
  for (const Figure& figure : heat.figures) {
    const std::string name = command::printable(figure.runtime);
    if (figure.failure) {
      fmt::print("  {:<14}  {}: {}\n", name,
                 command::styled(command::Stream::out, command::Style::red,
                                 touchstone::bench::name(figure.failure->kind)),
                 command::printable(figure.failure->why));
      continue;
    }
    if (!stands(heat, figure)) continue;
    const std::vector<double> all = figure.all();
    fmt::print("  {:<14}{:>11.3f}{:>10.3f}{:>10.1f}{:>10.1f}{:>9.1f}{:>9}  {}\n", name,
               milliseconds(median(all)), milliseconds(percentile(all, 0.95)),
               milliseconds(median(figure.loads)), milliseconds(figure.first),
               megabytes(figure.weight.peak), figure.judged, ratio_text(heat, figure));
  }
}

void print_runtimes(const std::vector<Heat>& heats) {
  std::map<std::string, bool> seen;
  for (const Heat& heat : heats) {
    for (const Figure& figure : heat.figures) {
      if (figure.failure || std::exchange(seen[figure.runtime], true)) continue;
      fmt::print("{}: {}, its files take {:.1f} MB; {}\n", command::printable(figure.runtime),
                 command::printable(figure.version), megabytes(figure.weight.library),
                 command::printable(figure.settings));
    }
  }
}

void print(const std::vector<Roof>& roofs) {
  for (const Roof& roof : roofs) {
    fmt::print("roof, {} thread{}  {:.1f} GFLOP/s from registers ({}), {:.1f} GB/s copied\n",
               roof.threads, roof.threads == 1 ? "" : "s", roof.flops / 1e9, roof.vectors,
               roof.copy_bytes / 1e9);
  }
}

void print(const std::vector<Mean>& all) {
  for (const Mean& mean : all) {
    fmt::print("{} / ours, {} thread{}: geometric mean {:.3f} over {} model{}, least {:.3f} ({})\n",
               command::printable(mean.runtime), mean.threads, mean.threads == 1 ? "" : "s",
               mean.ratio, mean.models, mean.models == 1 ? "" : "s", mean.least,
               command::printable(mean.least_model));
  }
}

Json to_json(const Heat& heat) {
  Json rows = Json::array();
  for (const Figure& figure : heat.figures) {
    const std::optional<RuntimeFailure>& failure = figure.failure ? figure.failure : heat.unfair;
    Json row{{"runtime", figure.runtime},
             {"version", figure.version},
             {"settings", figure.settings},
             {"valid", stands(heat, figure)},
             {"fall", failure ? name(failure->kind) : ""},
             {"why", failure ? failure->why : ""},
             {"load_seconds", figure.loads},
             {"judged", figure.judged},
             {"distance", figure.distance}};
    if (stands(heat, figure)) {
      const std::vector<double> all = figure.all();
      row["seconds"] = {{"median", median(all)},       {"p95", percentile(all, 0.95)},
                        {"least", percentile(all, 0)}, {"first", figure.first},
                        {"runs", all.size()},          {"rounds", figure.blocks.size()}};
      row["bytes"] = {{"peak", figure.weight.peak},
                      {"before", figure.weight.before},
                      {"library", figure.weight.library}};
      if (const std::optional<Ratio> found = ratio(heat, figure)) {
        row["ratio"] = {{"median", found->middle}, {"low", found->low}, {"high", found->high}};
      }
    }
    rows.push_back(std::move(row));
  }
  return {{"model", heat.model}, {"threads", heat.threads}, {"runtimes", rows}};
}

Json to_json(const Roof& roof) {
  return {{"threads", roof.threads},
          {"vectors", roof.vectors},
          {"flops", roof.flops},
          {"copy_bytes", roof.copy_bytes}};
}

Json to_json(const Mean& mean) {
  return {{"runtime", mean.runtime}, {"threads", mean.threads}, {"models", mean.models},
          {"ratio", mean.ratio},     {"least", mean.least},     {"least_model", mean.least_model}};
}

std::optional<FailureKind> worst(const std::vector<Heat>& heats) {
  std::optional<FailureKind> found;
  const auto add = [&](const std::optional<RuntimeFailure>& one) {
    if (one && (!found || one->kind < *found)) found = one->kind;
  };
  for (const Heat& heat : heats) {
    add(heat.unfair);
    for (const Figure& figure : heat.figures) add(figure.failure);
  }
  return found;
}

}  // namespace touchstone::bench
