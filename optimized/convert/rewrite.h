// What replacements are made with: nodes of the opset that a step leads to, and constants computed
// at once by the reference kernels.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "optimized/convert/found.h"

namespace touchstone::conversion {

// Gives names that nothing in the model has.
class Fresh {
 public:
  explicit Fresh(const Model& model);
  std::string name(const std::string& stem);

 private:
  std::set<std::string> taken_;
};

// The versions that new nodes are of: one domain is on its way, the others stay.
struct Imports {
  std::map<std::string, Index> opsets;
  const Signature* find(std::string_view domain, std::string_view op) const;
};

// What a replacement comes to.
struct Made {
  std::vector<Node> nodes;
  std::vector<std::pair<std::string, Tensor>> constants;  // by fresh names
};

class Rewrite {
 public:
  using Attributes = std::map<std::string, Attribute>;
  // Values of the graph by their names ("" is left out), or a constant.
  struct Arg {
    std::variant<std::vector<std::string>, Tensor> is;
  };

  Rewrite(const Found& found, const Imports& imports, Fresh& fresh)
      : found(found), imports_(imports), fresh_(fresh) {}

  const Found& found;

  Arg value(Slot slot) const { return {found.names(slot)}; }
  Arg left_out() const { return {std::vector<std::string>{""}}; }
  static Arg ints(const Point& list);  // int64, one dimension
  static Arg floats(const std::vector<float>& list);
  static Arg scalar(Index value);             // int64, no dimension
  static Arg real(double value);              // double, no dimension
  Arg number(double value, Slot like) const;  // no dimension, of the element type of `like`
  Arg folded() const;                         // what the node makes, where that is constant

  // The node's attributes, as far as a node of that operator can have them; a default that is
  // another one there is written.
  Attributes carried(std::string_view domain, std::string_view op) const;

  Arg compute(std::string_view domain, std::string_view op, const std::vector<Arg>& inputs,
              Attributes attributes = {}) const;
  Arg node(std::string_view local, std::string_view domain, std::string_view op,
           const std::vector<Arg>& inputs, Attributes attributes = {});
  // The same, of a node whose outputs are those of the node that it replaces.
  void result(const std::vector<Arg>& outputs, std::string_view domain, std::string_view op,
              const std::vector<Arg>& inputs, Attributes attributes = {});
  void result(Slot output, Arg value);  // a constant, or what another node makes
  Arg local(std::string_view name);     // of an output that the node did not name

  // Throws NotKnown where the node has an output that is used and that nothing makes.
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
inline Attribute attribute(const Point& value) {
  return {std::vector<Index>(value.begin(), value.end()), ""};
}

Rewrite::Attributes joined(Rewrite::Attributes base, const Rewrite::Attributes& with);

// A default as a node would say it; none for a kind that has no defaults.
std::optional<Attribute> default_of(const AttributeSpec& spec);
const AttributeSpec* attribute_of(const Signature& signature, std::string_view name);
bool is_default(const AttributeSpec& spec, const Attribute& attribute);

}  // namespace touchstone::conversion
