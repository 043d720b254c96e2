// What judge_node needs to know of an operator, apart from where it is found: so that tests can
// hand in their own.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "conformance/judge/judge.h"
#include "reference/rulings.h"

namespace touchstone {

struct NodeMeans {
  const WideEntry* wide = nullptr;  // null: every output is judged exactly
  std::function<std::vector<Value>(const std::vector<Value>& inputs)>
      native;  // our own outputs; empty: there is no kernel
  std::function<std::optional<Inferred>()>
      infer;  // types and shapes; empty: not known before it runs
  std::function<Opened()>
      follow;  // in place of `native`: our outputs, led by what the target answered
};

NodeJudgement judge_node(const Node& node, const NodeMeans& means, const std::vector<Value>& inputs,
                         const std::vector<Value>& observed, const JudgeOptions& options);

}  // namespace touchstone
