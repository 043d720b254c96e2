// Drafts: cases of one operator in the form that generators change. A draft is written as a line of
// the spec suite (conformance/suites/line.h), from which model and feeds are made.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/shape.h"
#include "core/types.h"
#include "model/schema.h"

namespace touchstone::fuzz {

inline constexpr Index max_written = 64;  // elements of a tensor written out in place of a regime

struct DraftValue {
  enum class Kind { omitted, tensor, container, verbatim };  // verbatim: a map
  Kind kind = Kind::omitted;
  // A tensor. Elements as written, which repeat cyclically, or the name of a regime.
  Type type = Type::undefined;
  std::vector<Index> dims;
  std::vector<std::string> symbols;  // one per dimension: "" for a number, "?" for an unknown size
  std::string regime;
  std::vector<std::string> elements;
  // A sequence or an optional value ("seq(tensor(float))") and its items; or the whole text of a
  // map.
  std::string container;
  std::vector<DraftValue> items;

  bool is_tensor() const { return kind == Kind::tensor; }
  Index size() const;  // elements of the tensor, or of all items
};

struct DraftPort {
  DraftValue value;
  bool held = false;  // an initializer of the model
};

struct Draft {
  const Signature* signature = nullptr;
  std::vector<DraftPort> ports;
  std::map<std::string, std::string> attributes;  // as written
  std::string outputs;                            // "x_x"; "" for all required ones
  std::string refused;

  bool given(std::size_t port) const;
  // Appends omitted ports, so that port `k` exists.
  DraftPort& at(std::size_t k);
  void trim();  // drops omitted ports at the end
};

// Throws Error (usage) on a text that is no line.
Draft parse_draft(const std::string& line);
std::string text(const Draft& draft);

std::string name_of(const Signature& signature);  // "ai.onnx.ml.Scaler-1"

// Values of attributes as written. Nothing if the text is of another kind.
std::optional<Index> integer_of(const std::string& written);
std::optional<std::vector<std::string>> split_list(const std::string& written);
std::optional<std::vector<Index>> integers_of(const std::vector<std::string>& items);
std::string join_list(const std::vector<std::string>& items);  // "[1,2]"
std::string join_list(const std::vector<Index>& items);
std::string quoted(std::string_view text);
std::optional<std::string> unquoted(const std::string& written);

// Elements of a tensor as integers, repeated to its size. Nothing for a regime or other numbers.
std::optional<std::vector<Index>> integers_of(const DraftValue& value);
void set_integers(DraftValue& value, const std::vector<Index>& list);

}  // namespace touchstone::fuzz
