// Base of rewriters, which build the replacement of a match: nodes, and constants that the
// reference kernels compute at once.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "transform/match.h"

namespace touchstone::transform {

class GraphRewriter {
 public:
  using Attributes = std::map<std::string, Attribute>;
  // Argument of a new node: names of values ("" is omitted; several for a variadic parameter), or a
  // constant.
  struct Arg {
    std::variant<std::vector<std::string>, Tensor> is;
  };

  explicit GraphRewriter(const Match& match) : match_(match) {}
  virtual ~GraphRewriter() = default;

  static Arg named(std::string value) { return {std::vector<std::string>{std::move(value)}}; }
  static Arg left_out() { return named(""); }
  static Arg ints(const IndexVector& list);  // int64, one dimension
  static Arg floats(const std::vector<float>& list);
  static Arg scalar(Index value);             // int64 scalar
  static Arg real(double value);              // float64 scalar
  Arg number(double value, Slot like) const;  // scalar of the element type of `like`

  // Evaluates an operator on constants only and returns a constant.
  Arg compute(std::string_view domain, std::string_view op, const std::vector<Arg>& inputs,
              Attributes attributes = {}) const;

 protected:
  virtual const Tensor* constant(const std::string& value) const = 0;

 private:
  const Match& match_;
};

inline Attribute attribute(Index value) { return {value, ""}; }
inline Attribute attribute(Type value) { return {static_cast<Index>(value), ""}; }
inline Attribute attribute(double value) { return {static_cast<float>(value), ""}; }
inline Attribute attribute(std::string_view value) { return {std::string(value), ""}; }
inline Attribute attribute(std::vector<float> value) { return {std::move(value), ""}; }
inline Attribute attribute(const std::vector<double>& value) {
  return {std::vector<float>(value.begin(), value.end()), ""};
}
inline Attribute attribute(std::vector<std::string> value) { return {std::move(value), ""}; }
inline Attribute attribute(const IndexVector& value) {
  return {std::vector<Index>(value.begin(), value.end()), ""};
}

// Returns the attributes `base`, overridden by those in `with`.
GraphRewriter::Attributes joined(GraphRewriter::Attributes base,
                                 const GraphRewriter::Attributes& with);

}  // namespace touchstone::transform
