// Draws lines. The reference decides which edited lines are valid.
#include "fuzz/line_source.h"

#include "conformance/suites/line.h"
#include "core/budget.h"
#include "core/error.h"
#include "model/model.h"
#include "reference/interpreter.h"

namespace touchstone::fuzz {
namespace {

constexpr int max_attempts = 40;

// Returns the rule that refuses a case, "" if it is valid. Throws Error if it cannot run at all.
std::string rule_against(const Case& one) {
  const Budget budget(limits_of_drawn());
  const LimitsScope scope(limits_of_drawn());
  try {
    Model model = one.model;
    require_valid(model, limits_of_drawn());
    run(model, one.feeds.front(), RunOptions{limits_of_drawn(), {}});
  } catch (const Error& error) {
    if (error.rule.empty() ||
        (error.kind != ErrorKind::invalid_model && error.kind != ErrorKind::invalid_input))
      throw;
    return error.rule;
  }
  return "";
}

}  // namespace

Case case_of_line(const std::string& line) {
  const suites::Line parsed = suites::parse_line(line);
  suites::LineModel held = suites::model_of(parsed);
  Case made;
  made.text = line;
  made.refused = parsed.refused;
  made.model = std::move(held.model);
  Feeds feeds;
  for (std::size_t k = 0; k < held.feeds.size(); ++k)
    feeds.emplace(made.model.graph.inputs[k].name, std::move(held.feeds[k]));
  made.feeds.push_back(std::move(feeds));
  return made;
}

LineSource::LineSource(const std::filesystem::path& folder, const std::string& ops)
    : by_operator_(lines_by_operator(folder)) {
  for (const auto& [name, lines] : by_operator_) {
    if (matches_operator(ops, name)) operators_.push_back(name);
  }
  if (operators_.empty()) throw no_operator(ops);
}

Case LineSource::make(std::uint64_t number) const {
  Random random(number);
  const std::string& name = random.pick(operators_);
  const std::vector<std::string>& same = by_operator_.at(name);
  for (int k = 0; k < max_attempts; ++k) {
    const std::string& line = random.pick(same);
    const std::string edited = random.one_in(4) ? line : mutated(line, same, random);
    const bool may_be_invalid = random.one_in(4);
    try {
      const LimitsScope scope(limits_of_drawn());
      Case made = case_of_line(edited);
      made.refused = rule_against(made);
      if (made.refused.empty()) return made;
      if (!may_be_invalid) continue;
      made.text += " !" + made.refused;
      return made;
    } catch (const Error&) {  // it does not parse, or passes a limit
    }
  }
  throw Error(ErrorKind::unsupported, "no edit of a line of " + name + " was found");
}

}  // namespace touchstone::fuzz
