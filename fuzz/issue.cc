// Quotes the entry of the guilty operator version, whose lines are the clause.
#include "fuzz/issue.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "conformance/data.h"
#include "core/files.h"
#include "fuzz/meta/transformation.h"
#include "model/schema.h"

namespace touchstone::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t quoted_lines = 12;

std::string read(const fs::path& file) {
  return fs::exists(file) ? open_trusted(file).read_all(Limits::trusted()) : "";
}

// Returns the lines of "spec/ops/ai.onnx/Clip.yaml:12" and those that follow.
std::string quoted_from(const std::string& place) {
  const std::size_t colon = place.rfind(':');
  if (colon == std::string::npos) return "";
  std::size_t line = 0;
  std::from_chars(place.data() + colon + 1, place.data() + place.size(), line);
  const std::string text = read(conformance::data_folder() / place.substr(0, colon));
  std::string quoted;
  std::size_t number = 1;
  for (std::size_t at = 0; at < text.size() && number < line + quoted_lines; ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string one = text.substr(at, end - at);
    at = end + 1;
    if (number > line && one.starts_with("  - ")) break;  // the next version
    if (number >= line) quoted += one + "\n";
  }
  return quoted;
}

std::string_view doc_of(const std::string& place) {
  const auto all = all_signatures();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Signature& one) { return one.source == place; });
  return found == all.end() ? "" : found->doc;
}

// Returns a script without its docstring.
std::string body_of(const std::string& script) {
  const std::size_t end = script.find("\"\"\"\n", 3);
  return end == std::string::npos ? script : script.substr(std::min(end + 5, script.size()));
}

}  // namespace

std::string issue_text(const Finding& finding, const Case& one, const std::optional<Error>& refusal,
                       const std::string& replay) {
  const Outcome& outcome = finding.outcome;
  const std::string what = outcome.node.empty() ? one.text.substr(0, 60) : outcome.node;
  std::string text = fmt::format("# {}: {}\n\n- Runtime: {} {}\n- Verdict: {}\n", what,
                                 outcome.pattern.empty() ? outcome.verdict : outcome.pattern,
                                 finding.target, finding.version, outcome.verdict);
  if (!outcome.types.empty())
    text += fmt::format("- Types of the inputs: {}\n", fmt::join(outcome.types, ", "));
  if (!one.transformation.empty()) {
    text +=
        fmt::format("- Transformation: {}. {} `transformed.onnx` means the same as `model.onnx`.\n",
                    one.transformation, doc_of_recipe(one.transformation));
  }
  text += fmt::format("\n## Case\n\n```\n{}\n```\n\n{}\n", text_of(one), outcome.detail);
  if (!outcome.element.actual.empty()) {
    text += fmt::format("\nOutput '{}', element {}: {} where the definition gives {}.\n",
                        outcome.element.output, outcome.element.where, outcome.element.actual,
                        outcome.element.expected);
  }
  text += "\n## Clause\n\n";
  const std::string place =
      refusal && !refusal->spec_line.empty() ? refusal->spec_line : outcome.place;
  if (refusal && !refusal->rule.empty())
    text +=
        fmt::format("Rule {}: `{}`. {}\n\n", refusal->rule, refusal->rule_text, refusal->message);
  if (const std::string_view doc = doc_of(outcome.place); !doc.empty())
    text += fmt::format("{}\n\n", doc);
  if (!place.empty()) text += fmt::format("{}\n\n```yaml\n{}```\n", place, quoted_from(place));
  text += fmt::format(
      "\n## Reproduction\n\n`python replay.py` in this folder: exit code 1 where it shows. It "
      "needs numpy, onnx and the runtime.\n\n```\n{}\n```\n",
      replay);
  return text;
}

std::string replay_script(const Finding& finding) {
  const fs::path folder = conformance::data_folder() / "fuzz/replay";
  const std::string runtime = finding.target.substr(0, finding.target.find(':'));
  std::string loader = body_of(read(folder / (runtime + ".py")));
  loader.erase(0, loader.find("\n\n\ndef "));  // the common part has its imports
  if (loader.empty())
    loader =
        "\n\ndef load(model: str) -> Callable:\n    raise SystemExit(\"replay.py does not know "
        "this runtime\")\n";
  return fmt::format(
      "\"\"\"Finding {} of {}: exit code 1 where it shows, else 0. Needs numpy, onnx and the "
      "runtime.\"\"\"\n\n{}",
      finding.hash, finding.target,
      body_of(read(folder / "compare.py")) + "\n" + loader + "\n\nsys.exit(main(load))\n");
}

}  // namespace touchstone::fuzz
