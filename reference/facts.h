// Facts that a plan may read before its kernel runs: attributes, types, shapes, and values of small
// inputs. Shape inference provides shapes only; a plan that needs more throws NotKnown, and the
// shape stays unknown.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/numbers/convert.h"
#include "core/tensor.h"
#include "model/graph.h"
#include "reference/call.h"
#include "reference/lists.h"

namespace touchstone {

// Thrown by a plan that needs a shape or a value that is not known yet.
struct NotKnown {};

// An input (or a tensor attribute) as a plan sees it.
struct Described {
  bool given = false;
  Type type = Type::undefined;
  const Shape* shape = nullptr;    // null: not known
  const Tensor* tensor = nullptr;  // null: its values are not known
  std::string_view name;
};

inline const Shape& known_shape(const Described& d) {
  if (!d.shape) throw NotKnown{};
  return *d.shape;
}
inline Shape shape(const Described& d) { return known_shape(d); }
inline Index rank(const Described& d) { return known_shape(d).size(); }
inline Index dim(const Described& d, Index k) {
  return item(known_shape(d), wrap(k, known_shape(d).size()));
}
inline Index size(const std::vector<Described>& family) {
  return static_cast<Index>(family.size());
}
IndexVector values(const Described& d);  // an integer tensor of any shape, read as a list
template <class R>
std::vector<R> reals(const Described& d);
// Row-major positions of the elements that are not zero or false.
IndexVector positions(const Described& d);
// Number of elements of a range with this start, limit and delta.
Index steps(const Described& start, const Described& limit, const Described& delta);
IndexVector broadcast(const std::vector<Described>& family);
bool broadcastable(const std::vector<Described>& family);
// Running sums of the family's extents along an axis.
IndexVector ends(const std::vector<Described>& family, Index axis);

// A node's attributes and described inputs. Attribute getters return `otherwise` if the node omits
// the attribute, and throw Error (invalid_model) if it is of another kind.
class Facts {
 public:
  // For a node about to run, or for shape inference, with inputs described as far as known.
  Facts(const Node& node, const Signature& signature, std::vector<Described> inputs,
        std::vector<bool> wanted);

  bool given(std::string_view attribute) const;
  Index integer(std::string_view attribute, Index otherwise = 0) const;
  float number(std::string_view attribute, float otherwise = 0) const;
  std::string text(std::string_view attribute, std::string_view otherwise = "") const;
  IndexVector integers(std::string_view attribute, IndexVector otherwise = {}) const;
  std::vector<float> numbers(std::string_view attribute, std::vector<float> otherwise = {}) const;
  std::vector<std::string> texts(std::string_view attribute,
                                 std::vector<std::string> otherwise = {}) const;
  const Tensor* tensor(std::string_view attribute) const;  // null if it is not given
  // A tensor attribute, described like an input.
  Described attribute(std::string_view attribute) const;

  Described input(Index k) const;
  std::vector<Described> inputs(Index from) const;
  bool wanted(Index output) const;
  Index outputs(Index from) const;  // number of the node's outputs from there on

  // Throws the Error of a broken rule of the node's version unless `holds`: its id ("C1"), text,
  // source line and message, and the values that it refers to.
  template <class Values>
  void require(bool holds, std::string_view rule, std::string_view text, std::string_view message,
               std::string_view line, Values values) const {
    if (!holds) broken(rule, text, message, line, values());
  }

  const Node& node() const { return node_; }
  const Signature& signature() const { return signature_; }

 private:
  [[noreturn]] void broken(std::string_view rule, std::string_view text, std::string_view message,
                           std::string_view line, const std::string& values) const;
  const Attribute* find(std::string_view name) const;
  template <class T>
  const T& held(const Attribute& attribute, std::string_view name) const;

  const Node& node_;
  const Signature& signature_;
  std::vector<Described> inputs_;
  std::vector<bool> wanted_;
};

std::vector<Described> describe(const Signature& signature, const std::vector<Value>& inputs);

// "min has shape [8], axis = 3": values of the names in a broken rule.
std::string value_text(std::string_view name, const Described& d);
std::string value_text(std::string_view name, const std::vector<Described>& family);
std::string value_text(std::string_view name, const IndexVector& list);
std::string value_text(std::string_view name, Index i);
std::string value_text(std::string_view name, bool predicate);
std::string value_text(std::string_view name, std::string_view text);
inline std::string value_text(std::string_view name, const std::string& text) {
  return value_text(name, std::string_view(text));
}
inline std::string value_text(std::string_view name, Type type) {
  return value_text(name, touchstone::name(type));
}
// Reals and lists of strings are not shown.
template <class Other>
std::string value_text(std::string_view, const Other&) {
  return {};
}
inline std::string values_text() { return {}; }
template <class V, class... More>
std::string values_text(std::string_view name, const V& value, const More&... more) {
  const std::string first = value_text(name, value), rest = values_text(more...);
  return first.empty() || rest.empty() ? first + rest : first + ", " + rest;
}

// Returns the element type bound to a type constraint at this node: that of the first given input
// among `inputs`, else `otherwise`.
Type bound_type(const Facts& facts, std::initializer_list<Index> inputs, Type otherwise);

// Returns the type that an attribute names by code, or by name in any case, of
// TensorProto.DataType.
Type type_called(Index code);
Type type_called(std::string_view name);
// Class membership of a type known only at run time (`to in integers`).
inline bool is_one_of_integers(Type type) { return facts(type).is_integer; }
inline bool is_one_of_floats(Type type) { return facts(type).is_float; }
inline bool is_one_of_signed(Type type) {
  return is_one_of_integers(type) && facts(type).is_signed;
}
inline bool is_one_of_unsigned(Type type) {
  return is_one_of_integers(type) && !facts(type).is_signed;
}
inline bool is_one_of_numbers(Type type) {
  return is_one_of_integers(type) || is_one_of_floats(type);
}
inline bool is_one_of_complexes(Type type) { return facts(type).is_complex; }
inline bool is_one_of_strings(Type type) { return type == Type::string; }
inline bool is_one_of_booleans(Type type) { return type == Type::boolean; }

// Throws Error (unsupported) naming a type that the entry has no kernel for.
[[noreturn]] void no_kernel_for(const Facts& facts, std::string_view constraint, Type type);

// The same input under another shape.
inline Described aliased(const Described& d, const Shape& shape) {
  return {d.given, d.type, &shape, d.tensor, d.name};
}

}  // namespace touchstone
