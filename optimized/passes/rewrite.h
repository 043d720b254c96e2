// What the replacements of patterns are made with: nodes for what is known when the model runs, and
// constants computed at once by the reference kernels. Nothing is changed before all of it stands.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/numbers/formats.h"
#include "optimized/passes/found.h"

namespace touchstone {

class Rewrite {
 public:
  // A value of the replacement: one of the graph by its name ("" is left out), or a constant.
  struct Arg {
    std::variant<std::string, Tensor> is;
  };
  using Attributes = std::map<std::string, Attribute>;

  explicit Rewrite(const Found& found) : found(found) {}

  const Found& found;

  Arg value(Slot slot) const { return {found.value(slot)}; }
  Arg left_out() const { return {std::string()}; }
  static Arg ints(const Point& list);         // int64, one dimension
  static Arg scalar(Index value);             // int64, no dimension
  static Arg real(double value);              // double, no dimension
  Arg number(double value, Slot like) const;  // no dimension, of the element type of `like`
  Attributes attributes(Slot node) const { return found.node(node).attributes; }

  // `constant`: all arguments are, and so is what comes back.
  Arg compute(std::string_view domain, std::string_view op, const std::vector<Arg>& inputs,
              Attributes attributes = {}) const;
  // Constant weights times factors (double), computed in double and rounded once to the weights'
  // type. Along dimension `axis` there is a factor for each index, of each of `groups` equal parts
  // of dimension 0; or there is one for all.
  Arg scaled(const Arg& weights, const Arg& factors, Index axis, Index groups = 1) const;
  // By index of dimension 0 of the weights, the sum of all others times factors (double) along
  // dimension 1, as above: doubles.
  Arg weighed(const Arg& weights, const Arg& factors, Index groups = 1) const;
  // Constant integers less a zero point (0 if left out) times a scale, as floats: computed in
  // double, as the definition is. Along dimension `axis` each index has its own, or there is one
  // for all.
  Arg dequantised(const Arg& weights, const Arg& scale, const Arg& zero, Index axis) const;
  Arg node(std::string_view local, std::string_view domain, std::string_view op,
           std::vector<Arg> inputs, Attributes attributes = {});
  // The same, of a node whose outputs are the root's: they keep their names.
  void result(const std::vector<Slot>& outputs, std::string_view domain, std::string_view op,
              std::vector<Arg> inputs, Attributes attributes = {});
  void result(Slot output, Arg value);  // nothing needs to be computed

  // True where the graph is another one now.
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
inline Attribute attribute(const Point& value) {
  return {std::vector<Index>(value.begin(), value.end()), ""};
}

// Attributes of one node with others in their place.
Rewrite::Attributes joined(Rewrite::Attributes base, const Rewrite::Attributes& with);

}  // namespace touchstone
