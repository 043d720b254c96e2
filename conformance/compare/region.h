// Nodes that only misbehave together: what a target made of them is judged by what goes in and what
// comes out.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "conformance/blame.h"

namespace touchstone {

// The nodes of the main graph that make or use one of these values.
std::set<Index> region_around(const Model& model, const std::set<std::string>& hidden);

struct RegionJudgement {
  Verdict verdict = Verdict::open;
  std::string detail;            // why it is open, if it is
  std::vector<NodeBlame> shown;  // its nodes whose outputs were seen
};

// `values`: what the target was fed and what it showed. What lies between has the bound that an
// honest runtime may have used up on the way, so a value past the bound of the whole is wrong. Open
// where that bound is too wide, or where a node decides by values that were not seen.
RegionJudgement judge_region(const Model& model, const std::set<Index>& nodes,
                             const std::map<std::string, Value>& values,
                             const JudgeOptions& options);

}  // namespace touchstone
