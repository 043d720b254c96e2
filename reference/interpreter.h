// The reference interpreter: runs a resolved model node by node, in file order, on the native
// kernels.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/budget.h"
#include "model/graph.h"
#include "reference/call.h"

namespace touchstone {

// Called after every node, subgraph and function nodes included. `path` names the place: "" for the
// main graph, "If_0/then_branch", "Loop_3/body#2" (iteration 2), "Gelu_1" (a function's body).
using Tap = std::function<void(const Call& call, const std::string& path)>;

// Called after every node, like Tap, before another node reads its outputs: may replace them by
// others of the same types and shapes.
using Change = std::function<void(Call& call)>;

struct RunOptions {
  Limits limits;
  Tap tap;  // may be empty
  Cancel cancel = {};
  std::shared_ptr<MemoryAccount> account =
      nullptr;         // shared by a session's runs; null: this run's own
  Change change = {};  // may be empty
};

// Runs a model on feeds by input name. Throws Error: usage for a feed of the wrong name, type or
// shape; unsupported (naming operator and version) before anything runs, if an operator has no
// kernel.
std::map<std::string, Value> run(const Model& model, std::map<std::string, Value> feeds,
                                 const RunOptions& options = {});

// Runs one node of a main graph for an executor that owns the values, on the thread's budget.
// `look_up` returns the values that the node and its subgraphs name. Returns one value per output
// that the node names, absent if omitted.
std::vector<Value> run_node(const Node& node,
                            const std::function<Value(const std::string& name)>& look_up,
                            const RunOptions& options = {});

// Runs one operator by its exact version, without a graph, within the thread's limits and budget.
std::vector<Value> evaluate(const Signature& signature,
                            const std::map<std::string, Attribute>& attributes,
                            std::vector<Value> inputs, Index outputs = 1);

}  // namespace touchstone
