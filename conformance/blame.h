// Local blame: each node of a model judged on the inputs that a runtime itself gave it. Over a
// whole model bounds explode; node by node they do not, and the first node past its bound is the
// guilty one.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "conformance/judge/judge.h"
#include "model/graph.h"

namespace touchstone {

// What a runtime saw at one node. `path` names the place as the interpreter's taps do: "" for the
// main graph, "If_0/then_branch", "Loop_3/body#2", "Gelu_1".
struct TappedNode {
  std::string path;
  const Node* node = nullptr;
  std::function<std::vector<Value>()> inputs,
      outputs;  // read when the node's turn comes: taps of a model are big
};

struct NodeBlame {
  std::string path;
  const Node* node = nullptr;
  NodeJudgement judgement;
  std::string skipped;  // why it could not be judged, if it could not
};

struct Blame {
  std::vector<NodeBlame> nodes;       // in the order of the taps
  std::optional<std::size_t> guilty;  // the first with a fail verdict
  Index elements = 0, judged = 0;     // of all outputs, sampled ones counted by their sample
  double resolution_median = 0;       // over outputs that have a bound
  Verdict verdict = Verdict::open;    // the worst of those judged
};

using OnNode = std::function<void(const NodeBlame&)>;

// The blame of tap `k` if it was found before, for the same bits in and out; null if it was not.
using FoundBefore = std::function<const NodeBlame*(std::size_t k)>;

Blame blame(const std::vector<TappedNode>& taps, const JudgeOptions& options,
            const OnNode& on_node = {}, const FoundBefore& found_before = {});

// The main graph's nodes with the values that a run shows by name. `asked`: the names of which a
// value was asked for. An output that was asked for and not given is absent, and its node's fault;
// a node with a value that was not asked for cannot be judged. All arguments outlive what is
// returned.
std::vector<TappedNode> nodes_seen(const Model& model, const std::map<std::string, Value>& feeds,
                                   const std::map<std::string, Value>& seen,
                                   const std::set<std::string>& asked);

// The nodes at a path of a resolved model; null if there is no such place.
const std::vector<Node>* nodes_at(const Model& model, const std::string& path);

}  // namespace touchstone
