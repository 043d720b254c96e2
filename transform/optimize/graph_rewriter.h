// Builds the replacement of a match: nodes, and constants that the reference kernels compute at
// once. The graph stays unchanged until commit().
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/numbers/formats.h"
#include "transform/optimize/match_result.h"

namespace touchstone {

class GraphRewriter {
 public:
  // Value in the replacement: one of the graph, by name ("" is omitted), or a constant.
  struct Arg {
    std::variant<std::string, Tensor> is;
  };
  using Attributes = std::map<std::string, Attribute>;

  explicit GraphRewriter(const Match& found) : found(found) {}

  const Match& found;

  Arg value(Slot slot) const { return {found.value(slot)}; }
  Arg left_out() const { return {std::string()}; }
  static Arg ints(const IndexVector& list);   // int64, one dimension
  static Arg scalar(Index value);             // int64 scalar
  static Arg real(double value);              // float64 scalar
  Arg number(double value, Slot like) const;  // scalar of the element type of `like`
  Attributes attributes(Slot node) const { return found.node(node).attributes; }

  // Evaluates an operator on constants only and returns a constant.
  Arg compute(std::string_view domain, std::string_view op, const std::vector<Arg>& inputs,
              Attributes attributes = {}) const;
  // Multiplies constant weights by factors (float64), computed in double and rounded once to the
  // weights' type. There is one factor for all, or one per index of dimension `axis` in each of
  // `groups` equal parts of dimension 0.
  Arg scaled(const Arg& weights, const Arg& factors, Index axis, Index groups = 1) const;
  // Returns float64 sums per index of dimension 0 of the weights: the sum over all other
  // dimensions, weighted by factors along dimension 1 as in scaled().
  Arg weighed(const Arg& weights, const Arg& factors, Index groups = 1) const;
  // Returns (weights - zero) * scale as float32, computed in double like the definition; `zero` is
  // 0 if omitted. There is one scale for all, or one per index of dimension `axis`.
  Arg dequantised(const Arg& weights, const Arg& scale, const Arg& zero, Index axis) const;
  Arg node(std::string_view local, std::string_view domain, std::string_view op,
           std::vector<Arg> inputs, Attributes attributes = {});
  // Adds the node whose outputs are the root's, which keep their names.
  void result(const std::vector<Slot>& outputs, std::string_view domain, std::string_view op,
              std::vector<Arg> inputs, Attributes attributes = {});
  void result(Slot output, Arg value);  // an existing value or a constant

  // Applies the replacement. Returns false, with the graph still equivalent, if an output cannot be
  // replaced.
  bool commit();

 private:
  struct Planned {
    std::string domain, op;
    std::vector<Arg> inputs;
    Attributes attributes;
    std::vector<std::string> outputs;
    std::string local;
  };
  struct Weights;
  Weights weights(const Arg& weights, const Arg& factors, Index axis, Index groups) const;
  const Tensor& constant(const Arg& arg) const;

  std::vector<Planned> planned_;
  std::vector<std::pair<std::string, Arg>> aliases_;
};

inline Attribute attribute(Index value) { return {value, ""}; }
inline Attribute attribute(Type value) { return {static_cast<Index>(value), ""}; }
inline Attribute attribute(double value) { return {static_cast<float>(value), ""}; }
inline Attribute attribute(std::string_view value) { return {std::string(value), ""}; }
inline Attribute attribute(const IndexVector& value) {
  return {std::vector<Index>(value.begin(), value.end()), ""};
}

// Returns the attributes `base`, overridden by those in `with`.
GraphRewriter::Attributes joined(GraphRewriter::Attributes base,
                                 const GraphRewriter::Attributes& with);

}  // namespace touchstone
