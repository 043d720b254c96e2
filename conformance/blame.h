// Local blame: judges each node of a model on the inputs that a runtime itself computed for it.
// Bounds explode over a whole model but not over a node, and the first node past its bound is
// guilty.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "conformance/judge/judge.h"
#include "model/graph.h"

namespace touchstone::conformance {

// Values that a runtime had at one node. `path` is the location as in the interpreter's taps: ""
// for the main graph, "If_0/then_branch", "Loop_3/body#2", "Gelu_1".
struct TappedNode {
  std::string path;
  const Node* node = nullptr;
  std::function<std::vector<Value>()> inputs,
      outputs;  // read when the node is judged: taps of a model are large
};

struct NodeBlame {
  std::string path;
  const Node* node = nullptr;
  judge::NodeJudgement judgement;
  std::string skipped;  // reason why it could not be judged, "" if it was
};

struct Blame {
  std::vector<NodeBlame> nodes;       // in the order of the taps
  std::optional<std::size_t> guilty;  // the first node with a fail verdict
  Index elements = 0, judged = 0;     // elements of all outputs; a sampled output counts its sample
  double resolution_median = 0;       // over outputs that have a bound
  judge::Verdict verdict = judge::Verdict::open;  // the worst verdict of the judged nodes
};

using OnNode = std::function<void(const NodeBlame&)>;

// Returns the earlier blame of a tap with bit-identical inputs and outputs as tap `k`, or null.
using FoundBefore = std::function<const NodeBlame*(std::size_t k)>;

Blame blame(const std::vector<TappedNode>& taps, const judge::JudgeOptions& options,
            const OnNode& on_node = {}, const FoundBefore& found_before = {});

// Returns the main graph's nodes with the values of a run, by name. `asked`: names of the requested
// values. A requested output that is missing is absent and counts against its node; a node with a
// value that was not requested cannot be judged. All arguments must outlive the result.
std::vector<TappedNode> nodes_seen(const Model& model, const std::map<std::string, Value>& feeds,
                                   const std::map<std::string, Value>& seen,
                                   const std::set<std::string>& asked);

// Returns the nodes at a path of a resolved model; null if the path does not exist.
const std::vector<Node>* nodes_at(const Model& model, const std::string& path);

}  // namespace touchstone::conformance
