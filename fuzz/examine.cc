// Judges runs by definitions: what a target gives is right or wrong whatever its source.
#include "fuzz/examine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "conformance/assess.h"
#include "conformance/assess_nodes.h"
#include "conformance/compare/rewrite.h"
#include "conformance/single_node.h"
#include "core/budget.h"
#include "core/error.h"
#include "fuzz/graph/judge_graph.h"
#include "fuzz/graph/judge_hidden.h"
#include "fuzz/meta/examine_pair.h"
#include "model/model.h"
#include "reference/interpreter.h"

namespace touchstone::fuzz {
namespace {

bool is_invalid(ErrorKind kind) {
  return kind == ErrorKind::invalid_model || kind == ErrorKind::invalid_input ||
         kind == ErrorKind::usage;
}

std::vector<Value> values_of(const std::vector<std::string>& names, const Model& model,
                             const Feeds& feeds, const Feeds& outputs) {
  std::vector<Value> picked;
  for (const std::string& name : names) {
    Value value;
    if (const auto fed = feeds.find(name); fed != feeds.end()) {
      value = fed->second;
    } else if (const auto made = outputs.find(name); made != outputs.end()) {
      value = made->second;
    } else if (const auto held = model.graph.initializers.find(name);
               held != model.graph.initializers.end()) {
      value = held->second;
    } else if (const auto sparse = model.graph.sparse_initializers.find(name);
               sparse != model.graph.sparse_initializers.end()) {
      value = sparse->second;
    }
    picked.push_back(name.empty() ? Value{} : value);
  }
  return picked;
}

// Keeps the first wrong element of a judgement.
void keep_element(const Node& node, const judge::NodeJudgement& judgement, std::size_t run,
                  Outcome& outcome) {
  for (std::size_t k = 0; k < std::min(node.outputs.size(), judgement.outputs.size()); ++k) {
    const judge::Comparison& one = judgement.outputs[k];
    if (node.outputs[k].empty() || !judge::is_fail(one.verdict)) continue;
    outcome.element = {run, node.outputs[k], one.where, one.actual, one.expected};
    return;
  }
}

class Examination {
 public:
  Examination(const Case& one, Runner& runner, const Enter& enter)
      : case_(one), runner_(runner), enter_(enter), model_(one.model) {
    found_.text = one.text;
    found_.refused = one.refused;
    found_.covered = one.covered;
  }

  Outcome run() {
    if (!is_runnable()) return std::move(found_);
    const std::vector<std::string> marks = marks_of(model_, case_.feeds.front());
    found_.covered.insert(found_.covered.end(), marks.begin(), marks.end());
    if (model_.graph.nodes.size() == 1)
      describe_node(model_.graph.nodes.front(),
                    values_of(model_.graph.nodes.front().inputs, model_, case_.feeds.front(), {}),
                    found_);
    enter_(stage_run);
    try {
      runs_ = runner_.run(case_.model, case_.feeds);
      enter_(stage_judge);
      judge();
    } catch (const conformance::NoValue& none) {
      found_.verdict = none.is.verdict;
      found_.detail = none.is.detail;
    }
    if (found_.pattern.empty() && found_.is_finding()) found_.pattern = masked(found_.detail);
    for (const std::string& kernel : kernels_) {
      found_.covered.push_back("kernel/" + kernel);
      if (!found_.node.empty()) found_.covered.push_back("kernel/" + found_.node + "/" + kernel);
    }
    return std::move(found_);
  }

 private:
  // Runs the reference. Returns false, with the verdict set, if there is nothing to run a target
  // on.
  bool is_runnable() {
    std::string broken;
    try {
      const Budget budget(limits_of_case());
      const LimitsScope scope(limits_of_case());
      require_valid(model_, limits_of_case());
      for (const Feeds& feeds : case_.feeds)
        touchstone::run(model_, feeds, RunOptions{limits_of_case(), {}});
    } catch (const Error& error) {
      if (error.kind == ErrorKind::limit || error.kind == ErrorKind::out_of_memory)
        return ends(over_limit, error.message);
      if (!is_invalid(error.kind)) return ends(no_case, error.message);
      broken = error.rule.empty() ? "no rule: " + error.message : error.rule;
    }
    if (broken == case_.refused) return true;
    if (case_.refused.empty()) return ends(no_case, "refused by " + broken);
    return ends(judge::name(judge::Verdict::harness),
                fmt::format("{} does not refuse this case, but {}", case_.refused,
                            broken.empty() ? "nothing" : broken));
  }

  bool ends(std::string_view verdict, std::string detail) {
    found_.verdict = verdict;
    found_.detail = std::move(detail);
    if (found_.is_finding()) found_.pattern = masked(found_.detail);
    return false;
  }

  void judge() {
    const targets::Answer& last = runs_.back().answer;
    if (!case_.refused.empty()) return judge_refusal(last);
    found_.verdict = judge::name(judge::Verdict::exact);
    const bool is_single =
        model_.graph.nodes.size() == 1 && conformance::why_not_judged(model_).empty();
    for (std::size_t k = 0; k < runs_.size(); ++k) {
      const Run& one = runs_[k];
      kernels_.insert(one.answer.kernels.begin(), one.answer.kernels.end());
      if (!one.answer.has_outputs()) {
        judge_failure(one.answer);
        if (!is_single && data_decides(model_, case_, answer_of(runs_), runs()))
          found_.verdict = judge::name(judge::Verdict::open);
        return;
      }
      if (is_single) judge_only_node(case_.feeds[k], one.outputs, k);
      if (found_.is_finding()) return;
      if (one.answer.kind == targets::Answer::Kind::wrote_input)
        return fail(judge::Verdict::wrote_input, one.answer.detail);
      if (one.answer.kind == targets::Answer::Kind::differed &&
          !conformance::draws(model_.graph.nodes))
        return fail(judge::Verdict::nondeterministic, one.answer.detail);
    }
    if (is_single) return;
    judge_graph_of_nodes();
  }

  void fail(judge::Verdict verdict, const std::string& detail) {
    found_.verdict = judge::name(verdict);
    found_.detail = detail;
    found_.pattern = masked(detail);
  }

  void judge_refusal(const targets::Answer& answer) {
    if (answer.has_outputs())
      return fail(judge::Verdict::accepted_invalid, "breaks " + case_.refused);
    const bool is_refusal = is_invalid(answer.error) ||
                            (answer.error == ErrorKind::internal && runner_.refuses_by_any_error());
    if (answer.kind == targets::Answer::Kind::refused && is_refusal) {
      found_.verdict = judge::name(judge::Verdict::exact);
      found_.covered.push_back("rule/" + case_.refused);
      return;
    }
    judge_failure(answer);
  }

  void judge_failure(const targets::Answer& answer) {
    const conformance::Assessment failure = conformance::assess_failure(answer);
    const bool is_limit =
        answer.kind == targets::Answer::Kind::refused && answer.error == ErrorKind::limit;
    found_.verdict = is_limit ? std::string(over_limit) : failure.verdict;
    found_.detail = failure.detail;
  }

  // Runs models on the target.
  RunTarget runs() {
    return [this](const Model& model, const std::vector<Feeds>& feeds) {
      enter_(stage_run);
      GraphAnswer answer = answer_of(runner_.run(model, feeds));
      enter_(stage_judge);
      return answer;
    };
  }

  // Keeps the worst verdict of several judgements.
  void add(judge::Verdict verdict, std::string detail) {
    const std::string_view worst =
        judge::name(judge::worse(verdict, conformance::verdict_named(found_.verdict)));
    if (worst == found_.verdict) return;
    found_.verdict = worst;
    found_.detail = std::move(detail);
  }

  void blame_node(const Node& node, const judge::NodeJudgement& judgement,
                  const std::vector<Value>& inputs, std::size_t run) {
    // Bounds of a node may pass a limit that its values do not: then it is not judged.
    if (judgement.over_limit) return add(judge::Verdict::open, judgement.detail);
    const std::string text = conformance::describe(node, judgement);
    const bool is_told = text.find(judgement.detail) != std::string::npos;
    add(judgement.verdict, is_told ? text : text + "; " + judgement.detail);
    if (!judge::is_fail(judgement.verdict)) return;
    describe_node(node, inputs, found_);
    found_.pattern = pattern_of(judgement);
    keep_element(node, judgement, run, found_);
  }

  // The node without the outputs that the graph does not show.
  Node node_shown() const {
    Node node = model_.graph.nodes.front();
    const std::vector<ValueInfo>& shown = model_.graph.outputs;
    for (std::string& name : node.outputs) {
      const auto is_it = [&](const ValueInfo& output) { return output.name == name; };
      if (std::none_of(shown.begin(), shown.end(), is_it)) name.clear();
    }
    return node;
  }

  void judge_only_node(const Feeds& feeds, const Feeds& outputs, std::size_t run) {
    const Node node = node_shown();
    const std::vector<Value> inputs = values_of(node.inputs, model_, feeds, {});
    blame_node(node, judge::judge_node(node, inputs, values_of(node.outputs, model_, {}, outputs)),
               inputs, run);
  }

  // Judges a graph on the values that the target itself gave in a run with all values shown. The
  // run that hides them must not differ by more than rounding (fuzz/graph/judge_graph.h).
  void judge_graph_of_nodes() {
    const std::map<std::string, ValueType> types = compare::types_of_values(model_);
    const Model tapped = compare::with_taps(model_, compare::hidden_values(model_), types);
    const RunTarget run = runs();
    const GraphAnswer shown = run(tapped, case_.feeds);
    if (!shown.error.empty()) {
      if (!judge::is_fail(shown.failure)) return;  // it does not support that model
      const std::string detail = "with every value shown: " + shown.error;
      if (data_decides(model_, case_, shown, run)) return add(judge::Verdict::open, detail);
      return fail(shown.failure, detail);
    }
    const GraphJudgement found = judge_answers(model_, case_, answer_of(runs_), shown, run);
    add(found.verdict, found.detail);
    if (judge::is_fail(found.verdict)) blame_graph(found, shown);
  }

  static GraphAnswer answer_of(const std::vector<Run>& runs) {
    GraphAnswer answer;
    for (const Run& one : runs) {
      if (one.answer.has_outputs()) {
        answer.outputs.push_back(one.outputs);
        continue;
      }
      const conformance::Assessment failure = conformance::assess_failure(one.answer);
      answer.failure = conformance::verdict_named(failure.verdict);
      answer.error = failure.detail.empty() ? failure.verdict : failure.detail;
    }
    return answer;
  }

  // Describes the guilty node. If it is wrong by itself, the pattern is that of its case alone.
  void blame_graph(const GraphJudgement& found, const GraphAnswer& shown) {
    const auto run = static_cast<std::size_t>(found.run);
    found_.detail = found.detail;
    found_.node = found.guilty;
    found_.pattern = masked(found.detail);
    if (run >= shown.outputs.size()) return;
    for (const Node& node : model_.graph.nodes) {
      if (name_of(node) != found.guilty) continue;
      const Feeds& seen = shown.outputs[run];
      const std::vector<Value> inputs = values_of(node.inputs, model_, case_.feeds[run], seen);
      describe_node(node, inputs, found_);
      if (!conformance::why_not_judged(node).empty()) continue;
      const judge::NodeJudgement alone = judge::judge_node(
          node, inputs, values_of(node.outputs, model_, {}, seen), judge_options());
      if (!judge::is_fail(alone.verdict)) continue;
      found_.pattern = pattern_of(alone);
      return keep_element(node, alone, run, found_);
    }
  }

  const Case& case_;
  Runner& runner_;
  const Enter& enter_;
  Model model_;  // resolved
  std::vector<Run> runs_;
  std::set<std::string> kernels_;
  Outcome found_;
};

void mark_node(const Node& node, const std::vector<Value>& inputs, std::set<std::string>& marks) {
  Outcome described;
  describe_node(node, inputs, described);
  if (!node.signature) return;
  const std::string& version = described.node;
  marks.insert("version/" + version);
  marks.insert(fmt::format("type/{}/{}", version, fmt::join(described.types, ",")));
  for (const auto& [name, attribute] : node.attributes) {
    std::string value = "given";
    if (const auto* text = std::get_if<std::string>(&attribute.is)) value = *text;
    if (const auto* number = std::get_if<Index>(&attribute.is))
      value = *number < -4 ? "low" : *number > 8 ? "high" : std::to_string(*number);
    marks.insert(fmt::format("attribute/{}/{}={}", version, name, value.substr(0, 40)));
  }
  std::string given;
  for (const std::string& input : node.inputs) given += input.empty() ? '_' : 'x';
  marks.insert(fmt::format("inputs/{}/{}", version, given.substr(0, 12)));
}

}  // namespace

Outcome examine(const Case& one, Runner& runner, const Enter& enter) {
  try {
    if (!one.transformation.empty()) return examine_pair(one, runner, enter);
    return Examination(one, runner, enter).run();
  } catch (const Error& error) {
    Outcome failed;
    failed.text = text_of(one);
    failed.verdict = judge::name(judge::Verdict::harness);
    failed.detail = "judging: " + error.message;
    failed.pattern = masked(failed.detail);
    return failed;
  }
}

Outcome outcome_of_death(const Ended& ended) {
  Outcome made;
  const std::string how = ended.died.substr(0, ended.died.find('\n'));
  const bool is_late = how == "past the deadline";
  const bool is_target = ended.stage.starts_with(stage_run);
  made.verdict = judge::name(!is_target ? judge::Verdict::harness
                             : is_late  ? judge::Verdict::timeout
                                        : judge::Verdict::crash);
  made.detail = (ended.stage.empty() ? "" : ended.stage + ": ") + ended.died;
  made.pattern = (ended.stage.empty() ? "" : ended.stage + ": ") + masked(how);
  made.frames = frames_in(ended.died);
  return made;
}

void describe_only_node(const Case& one, Outcome& outcome) {
  if (one.model.graph.nodes.size() != 1) return;
  try {
    Model model = one.model;
    resolve(model);
    const Node& node = model.graph.nodes.front();
    describe_node(node, values_of(node.inputs, model, one.feeds.front(), {}), outcome);
  } catch (const Error&) {  // no operator version is known
  }
}

std::vector<std::string> marks_of(const Model& model, const Feeds& feeds) {
  std::set<std::string> marks;
  for (const Node& node : model.graph.nodes)
    mark_node(node, values_of(node.inputs, model, feeds, {}), marks);
  return {marks.begin(), marks.end()};
}

}  // namespace touchstone::fuzz
