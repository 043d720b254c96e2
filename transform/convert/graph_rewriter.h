// Builds the replacement of a node: nodes of the opset that the step converts to, and constants
// that the reference kernels compute at once.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "transform/convert/match_result.h"

namespace touchstone::conversion {

// Generates names that are unique in the model.
class Fresh {
 public:
  explicit Fresh(const Model& model);
  std::string name(const std::string& stem);

 private:
  std::set<std::string> taken_;
};

// Opset versions of new nodes: the target version of the domain under conversion, the imported ones
// of the others.
struct Imports {
  std::map<std::string, Index> opsets;
  const Signature* find(std::string_view domain, std::string_view op) const;
};

// Finished replacement of one node.
struct Made {
  std::vector<Node> nodes;
  std::vector<std::pair<std::string, Tensor>> constants;  // under new names
};

class GraphRewriter {
 public:
  using Attributes = std::map<std::string, Attribute>;
  // Argument of a new node: names of values ("" is omitted), or a constant.
  struct Arg {
    std::variant<std::vector<std::string>, Tensor> is;
  };

  GraphRewriter(const Match& found, const Imports& imports, Fresh& fresh)
      : found(found), imports_(imports), fresh_(fresh) {}

  const Match& found;

  Arg value(Slot slot) const { return {found.names(slot)}; }
  Arg left_out() const { return {std::vector<std::string>{""}}; }
  static Arg ints(const IndexVector& list);  // int64, one dimension
  static Arg floats(const std::vector<float>& list);
  static Arg scalar(Index value);             // int64 scalar
  static Arg real(double value);              // float64 scalar
  Arg number(double value, Slot like) const;  // scalar of the element type of `like`
  Arg folded() const;                         // the node's first output, if it is constant

  // Returns the node's attributes that the given operator has with the same kind, but for those
  // left out. Writes out the default of an omitted one if the defaults differ.
  Attributes carried(std::string_view domain, std::string_view op,
                     const std::set<std::string>& left_out = {}) const;

  Arg compute(std::string_view domain, std::string_view op, const std::vector<Arg>& inputs,
              Attributes attributes = {}) const;
  Arg node(std::string_view local, std::string_view domain, std::string_view op,
           const std::vector<Arg>& inputs, Attributes attributes = {});
  // Adds the node whose outputs are those of the node that it replaces.
  void result(const std::vector<Arg>& outputs, std::string_view domain, std::string_view op,
              const std::vector<Arg>& inputs, Attributes attributes = {});
  void result(Slot output, Arg value);  // a constant, or the output of another new node
  Arg local(std::string_view name);     // placeholder for an output that the node omits

  // Throws NotKnown if an output of the node is used but the replacement does not compute it.
  Made finish();

 private:
  Node& add(std::string_view domain, std::string_view op, const std::vector<Arg>& inputs,
            Attributes attributes);

  const Imports& imports_;
  Fresh& fresh_;
  Made made_;
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

GraphRewriter::Attributes joined(GraphRewriter::Attributes base,
                                 const GraphRewriter::Attributes& with);

// Returns the default as an attribute; nullopt if there is none or its kind has no defaults.
std::optional<Attribute> default_of(const AttributeSpec& spec);
const AttributeSpec* attribute_of(const Signature& signature, std::string_view name);
bool is_default(const AttributeSpec& spec, const Attribute& attribute);

}  // namespace touchstone::conversion
