// Examines one case: the reference runs it first, within limits; then the target; then the judge
// decides about every output.
#pragma once

#include "fuzz/batches.h"
#include "fuzz/case.h"
#include "fuzz/outcome.h"
#include "fuzz/runner.h"

namespace touchstone::fuzz {

// Names of the stages, in their order. A transformed model's run is "run LABEL".
inline constexpr std::string_view stage_make = "make", stage_run = "run", stage_judge = "judge";

// Runs the case and judges it. A case of one node is judged by its definition. Any other is judged
// by local blame, on a run with every value as an output, and as a whole.
//
// A case that the reference refuses, but whose source holds it for valid, is a `no-case`; one that
// passes a limit is `limit`. A claimed rule that does not refuse the case is the verdict harness.
//
// A case with a transformation is examined as a pair (fuzz/meta/examine_pair.h).
Outcome examine(const Case& one, Runner& runner, const Enter& enter);

// Returns the outcome of a process that died in a stage of a case.
Outcome outcome_of_death(const Ended& ended);

// Describes the node of an unresolved case of one node, for an outcome without a judgement.
void describe_only_node(const Case& one, Outcome& outcome);

// Returns the marks of coverage of a resolved model: versions, types and attribute values.
std::vector<std::string> marks_of(const Model& model, const Feeds& feeds);

}  // namespace touchstone::fuzz
