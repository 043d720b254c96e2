// Operator data that judge_node needs, separate from its lookup, so that tests can supply their
// own.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "conformance/judge/judge.h"
#include "reference/rulings.h"

namespace touchstone::judge {

struct NodeMeans {
  const ExtendedEntry* extended = nullptr;  // null: every output is judged exactly
  std::function<std::vector<Value>(const std::vector<Value>& inputs)>
      native;  // our own outputs; empty: there is no kernel
  std::function<std::optional<Inferred>()>
      infer;  // types and shapes; empty: not known before it runs
  std::function<Opened()>
      follow;  // replaces `native`: our outputs, recomputed with the target's own choices
  // Type constraints without a say in the type of the computation (converted.h).
  std::vector<std::string_view> converted;
};

NodeJudgement judge_node(const Node& node, const NodeMeans& means, const std::vector<Value>& inputs,
                         const std::vector<Value>& observed, const JudgeOptions& options);

}  // namespace touchstone::judge
