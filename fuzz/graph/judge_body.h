// Judges nodes without a definition of their own: those with bodies, and calls of functions.
#pragma once

#include <string>

#include "conformance/judge/verdict.h"
#include "fuzz/case.h"

namespace touchstone::fuzz {

struct BodyJudgement {
  judge::Verdict verdict = judge::Verdict::open;
  std::string detail;
};

// Returns a value by name: a known one, or an initializer; absent if there is neither.
Value value_of(const Model& model, const std::string& name, const Feeds& known);

// Compares a node's outputs among `known` with the reference on the same inputs, by the suite's
// tolerance. A function's outputs past it are judged by the bounds of its nodes together; those of
// a body are open if roundings of the inputs move them as far.
BodyJudgement judge_body(const Model& model, const Node& node, const Feeds& known);

}  // namespace touchstone::fuzz
