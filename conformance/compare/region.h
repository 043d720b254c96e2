// Judges nodes that misbehave only together, by the inputs and outputs of the whole region.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "conformance/blame.h"

namespace touchstone::compare {

// Returns the nodes of the main graph that make or use one of these values.
std::set<Index> region_around(const Model& model, const std::set<std::string>& hidden);

struct RegionJudgement {
  judge::Verdict verdict = judge::Verdict::open;
  std::string detail;                         // reason for the verdict open
  std::vector<conformance::NodeBlame> shown;  // its nodes whose outputs were observed
};

// Judges a region. `values`: what the target was fed and what was observed. Hidden values carry the
// bound that a faithful runtime may have used up, so a value past the accumulated bound is wrong.
// The verdict is open if that bound is too wide, or if a node branches on values that were not
// observed.
RegionJudgement judge_region(const Model& model, const std::set<Index>& nodes,
                             const std::map<std::string, Value>& values,
                             const judge::JudgeOptions& options);

// Judges the region around hidden values. A runtime may compute a value that the region makes and
// uses twice: to show it, and within a kernel for the region. Values that fail beside right ones of
// these are judged as if these were hidden too.
RegionJudgement judge_around(const Model& model, const std::set<std::string>& hidden,
                             const std::map<std::string, Value>& values,
                             const judge::JudgeOptions& options);

}  // namespace touchstone::compare
