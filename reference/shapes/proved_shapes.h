// Shapes that the operators' definitions guarantee for given feeds, for executors to rely on.
//
// Declarations of computed values are ignored and no size is drawn at random: sizes that depend on
// run-time values are unknown.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "core/limits.h"
#include "model/graph.h"
#include "reference/shapes/symbolic_integer.h"

namespace touchstone {

class SymbolTable;

struct ProvedValue {
  std::optional<ValueType> type;
  std::optional<Shape> shape;  // for a tensor
};

struct ProvedShapes {
  std::unordered_map<std::string, ProvedValue> values;  // by name, of the main graph
  // Conditions of nodes of the main graph that run one of two graphs, by name.
  std::map<std::string, bool> conditions;
  std::set<Index> violations;  // nodes of the main graph, by index, with a constraint violation
  bool breaks_surely = false;  // a rule is violated on a node that every run reaches
};

// `feeds` holds the shapes of the fed tensors by input. The model must be resolved and pass
// check().
ProvedShapes prove_shapes(const Model& model, const std::map<std::string, Shape>& feeds,
                          const Limits& limits);

// Proves shapes of one model for several feeds, one after the other. A proof visits only the nodes
// that the difference to the feeds before it reaches. Not thread-safe.
class ShapeProver {
 public:
  // The model must be as for prove_shapes, and outlive the prover.
  ShapeProver(const Model& model, const Limits& limits);
  ~ShapeProver();
  // Results hold until the next call.
  void prove(const std::map<std::string, Shape>& feeds);

  using InputSizes = std::unordered_map<std::string, std::vector<SymbolicInteger>>;
  // Like prove(), over symbols too: the fed sizes are the hints of `sizes`, by input. An input that
  // is not among them has constant sizes. `symbols` must outlive the prover.
  void follow(const std::map<std::string, Shape>& feeds, SymbolTable& symbols, InputSizes sizes);
  // Sizes over symbols of a value of the main graph, constants too; nothing if they are not known.
  std::optional<std::vector<SymbolicInteger>> sizes(const std::string& name) const;

  // Type and shape of a value of the main graph, as far as they are known.
  ProvedValue value(const std::string& name) const;
  const std::set<Index>& violations() const;
  bool breaks_surely() const;
  const std::map<std::string, bool>& conditions() const;

 private:
  friend ProvedShapes prove_shapes(const Model&, const std::map<std::string, Shape>&,
                                   const Limits&);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace touchstone
