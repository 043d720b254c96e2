// Judges a run whose values between nodes are hidden, by the run that shows them. Buffers are
// reused and nodes fused only where values are hidden, so this finds faults of both.
#pragma once

#include <string>
#include <vector>

#include "conformance/judge/judge.h"
#include "fuzz/graph/judge_graph.h"

namespace touchstone::fuzz {

// Options of local blame. Elements share errors, as after a broadcast, so the test of a whole
// tensor, which assumes independent ones, does not apply.
constexpr judge::JudgeOptions judge_options() { return {.random_data = false}; }

std::string name_of(const Node& node);  // "Clip-13"

// True if the values differ at most in the payload of a NaN.
bool same_value(const Value& a, const Value& b);

// Judges the outputs of one run. Outputs that differ by rounding alone are counted: a fused node
// and an inexact pass round otherwise. For others, a search finds the hidden values that make the
// difference, and the nodes around them are judged together.
void judge_hidden(const Model& resolved, const std::vector<Feeds>& feeds, std::size_t run,
                  const Feeds& plain, const Feeds& tapped, const RunTarget& run_target,
                  GraphJudgement& found);

}  // namespace touchstone::fuzz
