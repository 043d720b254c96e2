// Which nodes the judge can say something of, and how its judgement of one reads in a report.
#pragma once

#include <optional>
#include <string>

#include "conformance/judge/judge.h"
#include "conformance/results.h"
#include "model/graph.h"

namespace touchstone {

// Why a node alone cannot be judged: a body of its own, a function of the model. "" if it can.
std::string why_not_judged(const Node& node);

// Why a model's outputs are not those of one node that can be judged: then the suite's rule speaks,
// and where the target can be asked again, its nodes (assess_nodes.h). "" if they are.
std::string why_not_judged(const Model& model);

// "output 'y': element [3] is 2.5 (0x40200000) for 2 (0x40000000)": what there is to say of a
// comparison that did not pass.
std::string describe(const std::string& output, const Comparison& comparison);
std::string describe(const Node& node, const NodeJudgement& judgement);

// The largest of the node's outputs, where a bound was used.
std::optional<double> utilisation(const NodeJudgement& judgement);

// What was looked at, for tables. `type` is that of the node's first output.
JudgedNode facts_of(const Node& node, const NodeJudgement& judgement, Type type);

}  // namespace touchstone
