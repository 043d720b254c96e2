// What a plan may know before a kernel runs: attributes, types, shapes, and the values of small inputs. Shape inference asks
// with shapes alone; what it cannot know is thrown as NotKnown and becomes an unknown shape.
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
inline Index dim(const Described& d, Index k) { return item(known_shape(d), wrap(k, known_shape(d).size())); }
inline Index size(const std::vector<Described>& family) { return static_cast<Index>(family.size()); }
Point values(const Described& d);  // an integer tensor of any shape read as a list
template <class R>
std::vector<R> reals(const Described& d);
Point broadcast(const std::vector<Described>& family);
bool broadcastable(const std::vector<Described>& family);
Point ends(const std::vector<Described>& family, Index axis);  // running sums of the family's extents along an axis

class Facts {
 public:
  // Of a node that is about to run, or (inputs described as far as they are known) of one whose shapes are asked.
  Facts(const Node& node, const Signature& signature, std::vector<Described> inputs, std::vector<bool> wanted);

  bool given(std::string_view attribute) const;
  Index integer(std::string_view attribute, Index otherwise = 0) const;
  float number(std::string_view attribute, float otherwise = 0) const;
  std::string text(std::string_view attribute, std::string_view otherwise = "") const;
  Point integers(std::string_view attribute, Point otherwise = {}) const;
  std::vector<float> numbers(std::string_view attribute, std::vector<float> otherwise = {}) const;
  std::vector<std::string> texts(std::string_view attribute, std::vector<std::string> otherwise = {}) const;
  const Tensor* tensor(std::string_view attribute) const;  // null if it is not given
  Described attribute(std::string_view attribute) const;   // a tensor attribute, as an input is seen

  Described input(Index k) const;
  std::vector<Described> inputs(Index from) const;
  bool wanted(Index output) const;

  // Throws the Error of a broken rule: rule "Clip-13/C1", its text and line, and what it says.
  void require(bool holds, std::string_view rule, std::string_view text, std::string_view message, std::string_view line) const;

  const Node& node() const { return node_; }
  const Signature& signature() const { return signature_; }

 private:
  const Attribute* find(std::string_view name) const;
  template <class T> const T& held(const Attribute& attribute, std::string_view name) const;

  const Node& node_;
  const Signature& signature_;
  std::vector<Described> inputs_;
  std::vector<bool> wanted_;
};

std::vector<Described> describe(const Signature& signature, const std::vector<Value>& inputs);

// The element type that a type constraint stands for at this node: that of the first of `inputs` that is given.
Type bound_type(const Facts& facts, std::initializer_list<Index> inputs, Type otherwise);

// Refuses by name a type that the entry has no kernel for.
[[noreturn]] void no_kernel_for(const Facts& facts, std::string_view constraint, Type type);

// A view of an input under another shape, as plans see it.
inline Described aliased(const Described& d, const Shape& shape) { return {d.given, d.type, &shape, d.tensor, d.name}; }

}  // namespace touchstone
