// The judge: is a result what the standard's definition gives, up to what honest arithmetic may
// lose? A comparison that judged nothing is not a pass.
#pragma once

#include <string>
#include <vector>

#include "conformance/judge/verdict.h"
#include "core/tensor.h"
#include "reference/readings/wide_call.h"

namespace touchstone {

// Elements with a finite bound from which a tensor is judged as a whole too.
constexpr Index aggregate_from = 64;

struct Comparison {
  Verdict verdict = Verdict::open;
  Index elements = 0;          // of the output
  Index judged = 0, open = 0;  // of the elements that were looked at (all, or a sample)
  double utilisation_max = 0, utilisation_mean = 0;  // |actual - exact| / bound
  double bias = 0;               // mean of (actual - exact) / bound, with its sign
  double aggregate = 0;          // root mean square of error / aggregate bound; 0: not tested
  Index where = -1;              // the element of utilisation_max, or the first wrong one; linear
  std::string actual, expected;  // there, in decimal and hex
  double resolution_median = 0;  // of bound / |exact|
  std::string detail;            // one sentence, where there is something to say
};

// A float output (or one of integers that were computed from floats) against its bounded reading.
// `aggregate`: the same reading with Sums::aggregate; `arbiter`: its exact reading, asked where an
// element is within 2 % of its bound. Both may be null.
Comparison judge_wide(const WideOutput<Bounded>& expected, const Tensor& actual,
                      const WideOutput<Bounded>* aggregate = nullptr,
                      const WideOutput<Exact>* arbiter = nullptr);

enum class ZeroSign { ignored, compared };

// Bit for bit: moves, integers, bool, strings, shapes and types, containers item by item. NaN
// payload and sign are not compared.
Comparison judge_exact(const Value& expected, const Value& actual,
                       ZeroSign zeros = ZeroSign::ignored);

// The suite's own rule (onnx.backend.test.runner of 1.23): |actual - expected| <= atol + rtol
// |expected|, for bfloat16 rtol at least 2^-6; shapes and types equal, NaN equal to NaN, strings
// equal. Not the judge's opinion.
Comparison judge_tolerance(const Value& expected, const Value& actual, double rtol = 1e-3,
                           double atol = 1e-7);

struct JudgeOptions {
  Class cls = Class::strict;
  bool then_fast = true;            // what strict refuses is judged again in class fast
  bool random_data = true;          // of a random regime but log-uniform: the aggregate test holds
  Index sample_above = 10'000'000;  // multiply-adds from which a sample of elements is judged
  Index sample = 256;               // elements of it, at least
  std::uint64_t seed = 0;
};

struct NodeJudgement {
  Verdict verdict = Verdict::open;
  Class cls = Class::strict;  // the class that gave the verdict
  std::string formula;        // right only by this alternative formula (`also:` of the entry)
  bool flushed = false;       // right only if subnormals became zero
  bool sampled = false;
  std::string question;  // right only as another ruling of it says, or as it leaves open: Q027
  std::vector<Comparison>
      outputs;  // one an output of the node; those without a name are left at open, 0 elements
  std::string detail;
};

// One node on the inputs that a target saw and the outputs that it gave (absent where it gave
// none).
NodeJudgement judge_node(const Node& node, const std::vector<Value>& inputs,
                         const std::vector<Value>& observed, const JudgeOptions& options = {});

}  // namespace touchstone
