// Tables of campaigns and findings, and a curve of growth for each campaign. No script.
#include "fuzz/page.h"

#include <fmt/format.h>

#include <algorithm>

namespace touchstone::fuzz {
namespace {

constexpr std::string_view style = R"(
:root { --paper: #fff; --ink: #1b1f24; --soft: #59636e; --line: #d8dee4; --fail: #cf222e; --mark: #0969da; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #0f1318; --ink: #e6eaef; --soft: #9aa4ae; --line: #2d343c; --fail: #ff7b72; --mark: #58a6ff; } }
body { margin: 0 auto; padding: 1.5rem; max-width: 96rem; background: var(--paper); color: var(--ink);
  font: 15px/1.45 system-ui, sans-serif; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-size: .85rem; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.fail { color: var(--fail); font-weight: 600; }
code { font: 13px/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
small { color: var(--soft); }
svg { display: block; } polyline { fill: none; stroke: var(--mark); stroke-width: 1.5; }
)";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// Returns marks of coverage over time.
std::string curve(const Campaign& one) {
  constexpr double width = 220, height = 48;
  if (one.growth.size() < 2) return "";
  const double last = std::max(one.growth.back()[0], 1e-9);
  const double most = std::max(one.growth.back()[2], 1.0);
  std::string points;
  for (const auto& sample : one.growth) {
    points += fmt::format("{:.1f},{:.1f} ", sample[0] / last * width,
                          height - sample[2] / most * (height - 4) - 2);
  }
  return fmt::format(
      "<svg width=\"{}\" height=\"{}\" role=\"img\" aria-label=\"coverage over time\"><polyline "
      "points=\"{}\"/></svg>",
      width, height, points);
}

std::string listed(const std::map<std::string, Index>& counts) {
  std::string text;
  for (const auto& [name, count] : counts)
    text += fmt::format("{}{}&nbsp;{}", text.empty() ? "" : ", ", count, escaped(name));
  return text;
}

std::string row_of(const Campaign& one, const State& state) {
  const auto findings =
      std::count_if(state.findings.begin(), state.findings.end(), [&](const auto& each) {
        return each.second.target == one.target && each.second.level == one.level;
      });
  const double rate = one.seconds > 0 ? static_cast<double>(one.cases()) / one.seconds : 0;
  return fmt::format(
      "<tr><td>{} <small>{}</small></td><td>{} <small>{}</small></td><td class=\"number\">{}</td>"
      "<td class=\"number\">{:.0f}</td><td class=\"number\">{:.0f}</td><td class=\"number\">{}</td>"
      "<td>{}</td><td>{}</td><td>{}</td></tr>\n",
      escaped(one.target), escaped(one.version), escaped(one.level), escaped(one.ops), one.cases(),
      one.seconds, rate, findings, listed(one.counts), listed(one.marks_by_kind()), curve(one));
}

std::string row_of(const Finding& one) {
  const std::string& text = one.reduced.empty() ? one.outcome.text : one.reduced;
  return fmt::format(
      "<tr><td class=\"fail\">{}</td><td>{}</td><td>{}</td><td>{}</td><td "
      "class=\"number\">{}</td><td><code>{}</code><br><small>{}</small></td><td><a "
      "href=\"findings/{}/\"><code>{}</code></a></td></tr>\n",
      escaped(one.outcome.verdict), escaped(one.outcome.node), escaped(one.target),
      escaped(one.outcome.pattern), one.count, escaped(text.substr(0, 300)),
      escaped(one.outcome.detail.substr(0, 300)), one.hash, one.hash);
}

}  // namespace

std::string html_page(const State& state) {
  std::string page = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width\"><title>Touchstone: fuzzing</title>"
      "<style>{}</style></head>\n<body><h1>Fuzzing</h1>\n<h2>Campaigns</h2>\n<table><thead><tr>"
      "<th>target</th><th>level</th><th class=\"number\">cases</th><th "
      "class=\"number\">seconds</th>"
      "<th class=\"number\">a second</th><th class=\"number\">findings</th><th>verdicts</th>"
      "<th>coverage</th><th>coverage over time</th></tr></thead><tbody>\n",
      style);
  for (const Campaign& one : state.campaigns) page += row_of(one, state);
  page += fmt::format(
      "</tbody></table>\n<h2>{} findings</h2>\n<table><thead><tr><th>verdict</th><th>operator</th>"
      "<th>target</th><th>pattern</th><th class=\"number\">cases</th><th>case</th><th>folder</th>"
      "</tr></thead><tbody>\n",
      state.findings.size());
  for (const auto& [hash, one] : state.findings) page += row_of(one);
  return page + "</tbody></table></body></html>\n";
}

}  // namespace touchstone::fuzz
