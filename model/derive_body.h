// Builder of the function body that a derivative node is replaced by.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/budget_watch.h"
#include "model/graph.h"

namespace touchstone {

// Returns a function defined in the entries: "ones", or "Mul-14" for the derivative of a version.
// Null if there is none.
std::shared_ptr<const Function> written(const std::string& name);

// Counts the nodes generated so far for all derivatives of a graph; the nodes of an inlined call
// count too.
class MadeNodes {
 public:
  explicit MadeNodes(Index most) : most_(most) {}
  // Throws Error (limit) past the limit `nodes`.
  void count(const Node& node);
  // Charges the function's names; the next node checks the limit.
  void count(const Function& function);
  // Returns the memory charged since the last call.
  Charge take_charge() { return std::exchange(charge_, {}); }

 private:
  Index most_, made_ = 0;
  Charge charge_;
  BudgetWatch watch_;
};

// Nodes that compute y, followed by nodes that compute the derivatives.
class DerivativeBody {
 public:
  explicit DerivativeBody(MadeNodes& made) : made_(made) {}

  // Appends a node unchanged, or the nodes of its function if it is a call, so that each node has a
  // signature.
  void add(const Node& node) { add(node, {}, nullptr); }

  // Appends a call with one output and returns that output's name.
  std::string call(const char* function, std::vector<std::string> inputs);
  Node& call(std::shared_ptr<const Function> function, std::vector<std::string> inputs,
             std::vector<std::string> outputs);

  // Inlines the call made last: a call may not omit an attribute that has no default.
  void open_last();
  // Inlines all calls. A body without calls of generated functions can itself be inlined.
  void open_all();

  std::string fresh(const std::string& of);  // unique name, with '~', which files rarely contain

  std::vector<Node> nodes;

 private:
  using Attributes = std::map<std::string, Attribute>;
  void add(const Node& node, const std::map<std::string, std::string>& names,
           const Attributes* given);
  void add_inside(const Node& caller);

  MadeNodes& made_;
  Index named_ = 0;
};

}  // namespace touchstone
