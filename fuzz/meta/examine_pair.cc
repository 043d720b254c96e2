// Compares bits first, and judges only where they differ.
#include "fuzz/meta/examine_pair.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "conformance/assess_nodes.h"
#include "conformance/compare/region.h"
#include "conformance/results.h"
#include "conformance/single_node.h"
#include "core/error.h"
#include "core/numbers/convert.h"
#include "fuzz/graph/judge_hidden.h"
#include "fuzz/meta/reference_runs.h"
#include "fuzz/meta/transformation.h"
#include "model/model.h"

namespace touchstone::fuzz {
namespace {

// Sets Runner::external for a scope.
class WeightsOutside {
 public:
  WeightsOutside(Runner& runner, bool outside) : runner_(runner) { runner_.external = outside; }
  ~WeightsOutside() { runner_.external = false; }
  WeightsOutside(const WeightsOutside&) = delete;
  WeightsOutside& operator=(const WeightsOutside&) = delete;

 private:
  Runner& runner_;
};

// True if a conversion may move which elements a NaN or an infinity reaches. At a point of the grid
// linear resampling weighs a neighbour by zero: the next one until Resize-10, then the one before.
bool weighs_by_zero(Model model) {
  require_valid(model, limits_of_case());
  const auto resamples = [](const Node& node) {
    return node.signature != nullptr && node.signature->form == "resample";
  };
  return std::any_of(model.graph.nodes.begin(), model.graph.nodes.end(), resamples);
}

bool has_not_finite(const Feeds& values) {
  return std::any_of(values.begin(), values.end(), [](const auto& one) {
    if (!one.second.is_tensor() || !facts(one.second.tensor().type()).is_float) return false;
    const Tensor& tensor = one.second.tensor();
    for (Index k = 0; k < tensor.size(); ++k) {
      if (!std::isfinite(number_at(tensor, k))) return true;
    }
    return false;
  });
}

class Pair {
 public:
  Pair(const Case& one, Runner& runner, const Enter& enter)
      : case_(one), runner_(runner), enter_(enter), label_(label_of(one.transformation)) {
    case_.transformation.clear();
    stage_ = std::string(stage_run) + " " + label_;
    found_.text = text_of(one);
  }

  Outcome run(const Case& one) {
    if (!transforms(one) || !means_the_same()) return std::move(found_);
    Model resolved = case_.model;
    require_valid(resolved, limits_of_case());
    found_.covered = marks_of(resolved, case_.feeds.front());
    found_.covered.push_back("meta/" + label_);
    try {
      compare_runs(resolved);
    } catch (const conformance::NoValue& none) {
      ends(none.is.verdict, none.is.detail);
    }
    return std::move(found_);
  }

 private:
  bool transforms(const Case& one) {
    try {
      variant_ = transformed(one);
    } catch (const Error& error) {
      return ends(no_case, error.message);
    }
    return !conformance::draws(variant_.is.model.graph.nodes) || ends(no_case, "a draw decides");
  }

  // Sets the verdict. Returns false.
  bool ends(std::string_view verdict, const std::string& detail) {
    found_.verdict = verdict;
    found_.detail = detail;
    if (found_.is_finding()) found_.pattern = label_ + ": " + masked(detail);
    return false;
  }

  // True if the reference gives the same for both models.
  bool means_the_same() {
    std::vector<Feeds> before, after;
    try {
      before = reference_runs(case_);
    } catch (const Error& error) {
      const bool is_limit =
          error.kind == ErrorKind::limit || error.kind == ErrorKind::out_of_memory;
      return ends(is_limit ? over_limit : no_case, error.message);
    }
    try {
      after = reference_runs(variant_.is);
    } catch (const Error& error) {
      if (error.kind == ErrorKind::limit || error.kind == ErrorKind::out_of_memory)
        return ends(over_limit, error.message);
      describe_only_node(case_, found_);
      return ends(
          judge::name(variant_.must_agree ? judge::Verdict::harness : judge::Verdict::unsupported),
          "the reference refuses the transformed model: " + error.message);
    }
    if (variant_.back) after = variant_.back(std::move(after));
    for (std::size_t k = 0; k < before.size(); ++k) {
      const std::string other =
          first_other_output(case_, before[k], after[k], judge::ZeroSign::ignored);
      if (other.empty() || (!variant_.exact && is_close(before[k], after[k], k))) continue;
      if (!variant_.must_agree) return ends(no_case, "the body rounds otherwise");
      if (crosses_opset_10() && weighs_by_zero(case_.model) &&
          (has_not_finite(before[k]) || has_not_finite(after[k])))
        return ends(no_case, "a neighbour that is not finite has the weight zero");
      const auto a = before[k].find(other), b = after[k].find(other);
      std::string detail = "the reference gives another output '" + other + "'";
      if (a != before[k].end() && b != after[k].end())
        detail = "the reference: " +
                 conformance::describe(other, judge::judge_exact(a->second, b->second));
      describe_maker(case_.model, other, before[k], k);
      return ends(judge::name(judge::Verdict::harness), detail);
    }
    return true;
  }

  bool crosses_opset_10() const {
    const auto is_old = [](const Model& model) {
      const auto opset = model.opsets.find("");
      return opset != model.opsets.end() && opset->second <= 10;
    };
    return is_old(case_.model) != is_old(variant_.is.model);
  }

  // True if the second outputs are within the suite's tolerance, or within the bound of the whole
  // graph.
  bool is_close(const Feeds& before, const Feeds& after, std::size_t run) const {
    const bool is_near = std::all_of(before.begin(), before.end(), [&](const auto& one) {
      const auto other = after.find(one.first);
      return other != after.end() &&
             judge::is_pass(judge::judge_tolerance(one.second, other->second).verdict);
    });
    if (is_near || !variant_.must_agree) return is_near;
    Model resolved = case_.model;
    require_valid(resolved, limits_of_case());
    std::set<Index> all;
    for (std::size_t k = 0; k < resolved.graph.nodes.size(); ++k) all.insert(static_cast<Index>(k));
    Feeds values = case_.feeds[run];
    values.insert(after.begin(), after.end());
    return !judge::is_fail(compare::judge_region(resolved, all, values, judge_options()).verdict);
  }

  void compare_runs(const Model& resolved) {
    Runner* other = nullptr;
    try {
      other = &runner_.with(variant_.options);
    } catch (const Error& error) {
      ends(judge::name(judge::Verdict::unsupported), error.message);
      return;
    }
    enter_(stage_run);
    const std::vector<Run> before = runner_.run(case_.model, case_.feeds);
    enter_(stage_);
    const std::vector<Run> after = run_after(*other);
    enter_(stage_judge);
    note_kernels(before);
    note_kernels(after);
    const bool both = are_outputs(before) && are_outputs(after);
    std::string differs;  // an output
    std::size_t run = 0;
    std::vector<Feeds> a = outputs_of(before), b = outputs_of(after);
    if (both) {
      if (variant_.back) b = variant_.back(std::move(b));
      for (; run < a.size() && differs.empty(); ++run)
        differs = first_other_output(case_, a[run], b[run], judge::ZeroSign::compared);
      if (differs.empty()) {
        found_.verdict = judge::name(judge::Verdict::exact);
        return;
      }
      --run;
    }
    decide(*other);
    const bool promised =
        variant_.same_bits == SameBits::everywhere ||
        (variant_.same_bits == SameBits::on_our_own && !runner_.refuses_by_any_error());
    if (!both || found_.is_finding() || found_.verdict == judge::name(judge::Verdict::open) ||
        !promised)
      return;
    found_.verdict = judge::name(judge::Verdict::nondeterministic);
    found_.detail =
        "other bits: " +
        conformance::describe(differs, judge::judge_exact(a[run].at(differs), b[run].at(differs)));
    describe_maker(resolved, differs, a[run], run);
    found_.pattern = label_ + ": other bits";
  }

  std::vector<Run> run_after(Runner& other) {
    const WeightsOutside scope(other, variant_.external);
    return other.run(variant_.is.model, variant_.is.feeds);
  }

  // Judges both as cases of their own.
  void decide(Runner& other) {
    const Outcome before = examine(case_, runner_, enter_);
    Outcome after;
    {
      const WeightsOutside scope(other, variant_.external);
      after = examine(variant_.is, other, [this](std::string_view stage) {
        enter_(stage == stage_run ? std::string_view(stage_) : stage);
      });
    }
    if (!before.is_finding()) return take(after, label_ + ": ");
    const std::string& verdict = after.verdict;
    if (verdict != no_case && verdict != over_limit &&
        conformance::standing(verdict) == conformance::Standing::pass)
      return take(before, label_ + " mends: ");
    found_.verdict = judge::name(judge::Verdict::open);
    found_.detail = "wrong before, and " + verdict + " after: " + before.detail;
  }

  void take(const Outcome& from, const std::string& prefix) {
    const std::vector<std::string> covered = std::move(found_.covered);
    const std::string text = found_.text;
    found_ = from;
    found_.covered = covered;
    found_.text = text;
    if (!found_.is_finding()) return;
    found_.pattern = prefix + found_.pattern;
    if (found_.place.empty()) describe_only_node(case_, found_);  // a call, or several nodes
  }

  static bool are_outputs(const std::vector<Run>& runs) {
    return std::all_of(runs.begin(), runs.end(), [](const Run& one) {
      return one.answer.kind == targets::Answer::Kind::outputs;
    });
  }

  static std::vector<Feeds> outputs_of(const std::vector<Run>& runs) {
    std::vector<Feeds> all;
    for (const Run& one : runs) all.push_back(one.outputs);
    return all;
  }

  void note_kernels(const std::vector<Run>& runs) {
    std::set<std::string> kernels;
    for (const Run& one : runs)
      kernels.insert(one.answer.kernels.begin(), one.answer.kernels.end());
    for (const std::string& kernel : kernels) found_.covered.push_back("kernel/" + kernel);
  }

  // Describes the node that makes an output.
  void describe_maker(Model model, const std::string& output, const Feeds& outputs,
                      std::size_t run) {
    try {
      resolve(model);
    } catch (const Error&) {
      return;
    }
    for (const Node& node : model.graph.nodes) {
      if (std::find(node.outputs.begin(), node.outputs.end(), output) == node.outputs.end())
        continue;
      std::vector<Value> inputs;
      for (const std::string& input : node.inputs) {
        const Feeds& feeds = case_.feeds[run];
        const auto fed = feeds.find(input), made = outputs.find(input);
        const auto held = model.graph.initializers.find(input);
        if (fed != feeds.end()) {
          inputs.push_back(fed->second);
        } else if (made != outputs.end()) {
          inputs.push_back(made->second);
        } else if (held != model.graph.initializers.end()) {
          inputs.emplace_back(held->second);
        }
      }
      return describe_node(node, inputs, found_);
    }
  }

  Case case_;  // before
  Runner& runner_;
  const Enter& enter_;
  const std::string label_;
  std::string stage_;
  Variant variant_;
  Outcome found_;
};

}  // namespace

Outcome examine_pair(const Case& one, Runner& runner, const Enter& enter) {
  return Pair(one, runner, enter).run(one);
}

}  // namespace touchstone::fuzz
