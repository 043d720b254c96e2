// Results of a run, case by case, and their counts.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/judge/verdict.h"
#include "conformance/suites/suite.h"
#include "core/shape.h"

namespace touchstone::conformance {

// The judge's data for a case of one node.
struct JudgedNode {
  // "Softmax-13", "normalise", "float": `type` is the element type of the node's first output.
  std::string node, form, type;
  Index elements = 0, open = 0;  // elements examined, and those without a bound
  double resolution = 0;         // max. over the outputs of the median of bound / |exact|
};

// The operator of a case of one node, "ai.onnx.ml.Scaler" outside the default domain; "" for
// several nodes.
struct Subject {
  std::string op;
  Index since = 0;  // the version in force; 0 if the operator is unknown
};

// An element of an output with the suite's expectation, both in decimal and hex.
struct Shown {
  std::string place, expected, actual;
};

struct CaseResult {
  std::string name, kind;
  std::string compat;   // result by the suite's tolerance: pass, wrong-value, wrong-shape ...
  std::string verdict;  // the judge's verdict
  std::optional<double> utilisation;  // the largest |actual - exact| / bound, if a bound was used
  std::string detail;
  std::optional<JudgedNode> judged = {};
  Subject subject = {};
  std::vector<Shown> values = {};
  std::vector<suites::Place> places = {};  // places of the case
  std::string ran = {};                    // LoadedModel::ran
  std::vector<std::string> kernels = {};   // LoadedModel::kernels

  std::string key() const { return kind.empty() ? name : kind + "/" + name; }
};

// Returns within for "within(0.5)". Throws Error (internal) for an unknown name.
judge::Verdict verdict_named(std::string_view text);

// Category of a verdict. Unsupported, open and harness never count as a pass.
enum class Standing { pass, fail, open, unsupported, harness, mistrusted, waived };
Standing standing(std::string_view verdict);
std::string_view name(Standing standing);

struct Summary {
  Index cases = 0;
  std::map<std::string, Index> standings, verdicts, compat;
  Index of(Standing standing) const;
  // Returns pass / (all - open - harness - unsupported); none if the divisor is zero.
  std::optional<double> rate() const;
};
Summary summarise(const std::vector<CaseResult>& results);

// Counts single-node cases that read float32, by the target's report: all, those on fast kernels,
// and those without a kernel. By operator, and in total.
struct FastShare {
  struct Of {
    Index cases = 0, fast = 0, views = 0, folded = 0;
    Index reference() const { return cases - fast - views - folded; }
  };
  Of all;
  std::map<std::string, Of> operators;
};
FastShare fast_share(const std::vector<CaseResult>& results);

// Returns counts of cases by kernel class: of any model in which a node ran on such a kernel, as
// the target reports.
std::map<std::string, Index> kernel_counts(const std::vector<CaseResult>& results);

struct TargetRun {
  std::string target, suite;
  std::vector<CaseResult> cases;
  std::string version = {};
};

}  // namespace touchstone::conformance
