// Decides which nodes can be judged alone, and formats judgements for reports.
#pragma once

#include <optional>
#include <string>

#include "conformance/judge/judge.h"
#include "conformance/results.h"
#include "model/graph.h"

namespace touchstone::conformance {

// Returns the reason why a node alone cannot be judged (a body of its own, a function of the
// model); "" if it can.
std::string why_not_judged(const Node& node);

// Returns the reason why a model's outputs are not those of one node that can be judged; "" if they
// are. For such a model the suite's rule applies, and its nodes are judged if the target can run
// again (assess_nodes.h).
std::string why_not_judged(const Model& model);

// Returns a text for a comparison that did not pass: "output 'y': element [3] is 2.5 (0x40200000)
// for 2 (0x40000000)".
std::string describe(const std::string& output, const judge::Comparison& comparison);
std::string describe(const Node& node, const judge::NodeJudgement& judgement);

// Returns the largest utilisation of the node's outputs, if a bound was used.
std::optional<double> utilisation(const judge::NodeJudgement& judgement);

// Returns the judged data for tables. `type` is that of the node's first output.
JudgedNode facts_of(const Node& node, const judge::NodeJudgement& judgement, Type type);

}  // namespace touchstone::conformance
