// The judge: decides if a result agrees with the standard's definition within the error of a
// faithful computation. A comparison that judged nothing is not a pass.
#pragma once

#include <string>
#include <vector>

#include "conformance/judge/verdict.h"
#include "core/tensor.h"
#include "reference/semantics/extended_call.h"

namespace touchstone::judge {

// Number of elements with a finite bound from which the tensor is also judged as a whole.
constexpr Index aggregate_from = 64;

struct Comparison {
  Verdict verdict = Verdict::open;
  Index elements = 0;          // size of the output
  Index judged = 0, open = 0;  // examined (all, or a sample): with a useful bound, and without
  double utilisation_max = 0, utilisation_mean = 0;  // |actual - exact| / bound
  double bias = 0;                                   // mean of (actual - exact) / bound, signed
  double aggregate = 0;          // root mean square of error / aggregate bound; 0: not tested
  Index where = -1;              // linear index of utilisation_max, or of the first wrong element
  std::string actual, expected;  // values of that element, in decimal and hex
  double resolution_median = 0;  // median of bound / |exact|
  std::string detail;            // one sentence, or empty
};

// Judges a float output (or an integer output computed from floats) by its bounded semantics.
// `aggregate`: the same with Sums::aggregate. `arbiter`: the exact semantics, used if an element is
// within 2 % of its bound. Both may be null.
Comparison judge_extended(const ExtendedOutput<Bounded>& expected, const Tensor& actual,
                          const ExtendedOutput<Bounded>* aggregate = nullptr,
                          const ExtendedOutput<Exact>* arbiter = nullptr);

enum class ZeroSign { ignored, compared };

// Compares bit for bit: data movement, integers, bool, strings, shapes and types, containers item
// by item. NaN payload and sign are ignored.
Comparison judge_exact(const Value& expected, const Value& actual,
                       ZeroSign zeros = ZeroSign::ignored);

// Applies the suite's own rule (onnx.backend.test.runner of 1.23): |actual - expected| <= atol +
// rtol |expected|, for bfloat16 rtol at least 2^-6. Shapes, types and strings must be equal, and
// NaN equals NaN. Independent of the judge's verdict.
Comparison judge_tolerance(const Value& expected, const Value& actual, double rtol = 1e-3,
                           double atol = 1e-7);

struct JudgeOptions {
  Class cls = Class::strict;
  bool then_fast = true;            // judges again in class fast if strict refuses
  bool random_data = true;          // random but not log-uniform: the aggregate test applies
  Index sample_above = 10'000'000;  // multiply-adds above which a sample of elements is judged
  Index sample = 256;               // min. elements of the sample
  std::uint64_t seed = 0;
};

struct NodeJudgement {
  Verdict verdict = Verdict::open;
  Class cls = Class::strict;  // the class that gave the verdict
  std::string formula;        // right only by this alternative formula (`also:` of the entry)
  bool flushed = false;       // right only if subnormals are flushed to zero
  bool sampled = false;
  bool over_limit = false;  // harness, since bounds of these numbers take too much memory or steps
  std::string question;     // right only by another ruling of this question, or if it is open: Q027
  std::vector<Comparison>
      outputs;  // one per output of the node; unnamed outputs stay open with 0 elements
  std::string detail;
};

// Judges one node on the inputs and outputs of a target (outputs that it did not give are absent).
NodeJudgement judge_node(const Node& node, const std::vector<Value>& inputs,
                         const std::vector<Value>& observed, const JudgeOptions& options = {});

}  // namespace touchstone::judge
