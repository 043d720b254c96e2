// What a run found out about each case, and how it is counted.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/judge/verdict.h"
#include "conformance/suites/suite.h"
#include "core/shape.h"

namespace touchstone {

// What the judge looked at, in a case of one node.
struct JudgedNode {
  std::string node, form,
      type;  // "Softmax-13", "normalise", "float": the element type of the node's first output
  Index elements = 0, open = 0;  // of all outputs: how many were looked at, and how many of these
                                 // had no bound that says something
  double resolution =
      0;  // median of bound / |exact| of the output where it is largest; 0: all exact
};

// What a case is about: its one node's operator, "ai.onnx.ml.Scaler" outside the default domain.
// "": several nodes.
struct Subject {
  std::string op;
  Index since = 0;  // the version in force; 0 if the operator is not known
};

// An element of an output beside what the suite expects there, both in decimal and hex.
struct Shown {
  std::string place, expected, actual;
};

struct CaseResult {
  std::string name, kind;
  std::string compat;   // by the suite's own tolerance: pass, wrong-value, wrong-shape, wrong-type,
                        // unsupported ...
  std::string verdict;  // by the judge
  std::optional<double>
      utilisation;  // the largest |actual - exact| / bound, where a bound was used
  std::string detail;
  std::optional<JudgedNode> judged = {};
  Subject subject = {};
  std::vector<Shown> values = {};
  std::vector<Place> places = {};         // as the case has them
  std::string ran = {};                   // LoadedModel::ran
  std::vector<std::string> kernels = {};  // LoadedModel::kernels

  std::string key() const { return kind.empty() ? name : kind + "/" + name; }
};

// "within(0.5)" -> within. Throws Error (internal) on what is no verdict.
Verdict verdict_named(std::string_view text);

// How a verdict counts. Unsupported, open and harness never count as a pass.
enum class Standing { pass, fail, open, unsupported, harness, mistrusted, waived };
Standing standing(std::string_view verdict);
std::string_view name(Standing standing);

struct Summary {
  Index cases = 0;
  std::map<std::string, Index> standings, verdicts, compat;
  Index of(Standing standing) const;
  // pass / (all - open - harness - unsupported); none if nothing is left to divide by
  std::optional<double> rate() const;
};
Summary summarise(const std::vector<CaseResult>& results);

// Counts of cases of one node that reads float32, from the target's report: all, those on fast
// kernels, and those without a kernel. By operator, and in total.
struct FastShare {
  struct Of {
    Index cases = 0, fast = 0, views = 0, folded = 0;
    Index reference() const { return cases - fast - views - folded; }
  };
  Of all;
  std::map<std::string, Of> operators;
};
FastShare fast_share(const std::vector<CaseResult>& results);

// By class of kernels, as the target says: the cases of any model in which a node ran on one.
std::map<std::string, Index> kernel_counts(const std::vector<CaseResult>& results);

struct TargetRun {
  std::string target, suite;
  std::vector<CaseResult> cases;
  std::string version = {};
};

}  // namespace touchstone
