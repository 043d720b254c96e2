// The body of the function that a derivative becomes, while its nodes are made.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/budget_watch.h"
#include "model/graph.h"

namespace touchstone {

// A function of the entries: "ones", or "Mul-14" for the derivative of a version. Null if there is
// none.
std::shared_ptr<const Function> written(const std::string& name);

// Nodes made so far, of all derivatives of a graph; a call that is opened counts too.
class MadeNodes {
 public:
  explicit MadeNodes(Index most) : most_(most) {}
  // Throws Error (limit) past the limit `nodes`.
  void count(const Node& node);
  void count(const Function& function);  // for its names; the next node finds the limit
  // Memory of the nodes since the last call.
  Charge take_charge() { return std::exchange(charge_, {}); }

 private:
  Index most_, made_ = 0;
  Charge charge_;
  BudgetWatch watch_;
};

// Nodes that make y, then nodes that make the derivatives.
class DerivativeBody {
 public:
  explicit DerivativeBody(MadeNodes& made) : made_(made) {}

  // Adds a node as it is, and in the place of a call what its function holds, so that each node has
  // a signature.
  void add(const Node& node) { add(node, {}, nullptr); }

  // Gives the name of what the function makes of the inputs.
  std::string call(const char* function, std::vector<std::string> inputs);
  Node& call(std::shared_ptr<const Function> function, std::vector<std::string> inputs,
             std::vector<std::string> outputs);

  // In the place of the call that was made last its nodes: a call may not leave an attribute out
  // that has no default.
  void open_last();
  // The same of all calls: what holds no call of functions that are in no file can be put in the
  // place of its own.
  void open_all();

  std::string fresh(const std::string& of);  // no file is full of these

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
