// Builds the replacement of a match of a pattern. The graph stays unchanged until commit().
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/numbers/formats.h"
#include "transform/graph_rewriter.h"
#include "transform/optimize/pattern_match.h"

namespace touchstone::transform {

class PatternRewriter : public GraphRewriter {
 public:
  explicit PatternRewriter(const PatternMatch& found) : GraphRewriter(found), found(found) {}

  const PatternMatch& found;

  Arg value(Slot slot) const { return named(found.value(slot)); }
  Attributes attributes(Slot node) const { return found.node(node).attributes; }

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
  const Tensor* constant(const std::string& value) const override;
  const Tensor& constant(const Arg& arg) const;

  std::vector<Planned> planned_;
  std::vector<std::pair<std::string, Arg>> aliases_;
};

}  // namespace touchstone::transform
