// Cases of the fuzzer and the sources that generate them. A campaign is a range of numbers, and a
// source generates the case of a number, the same one on every machine.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/graph.h"

namespace touchstone::fuzz {

using Feeds = std::map<std::string, Value>;

struct Case {
  std::string text;                  // identity in one line: a line of the spec suite, or a recipe
  Model model;                       // not resolved
  std::vector<Feeds> feeds;          // one set per run; all runs use one session
  std::string refused;               // the rule that must refuse the case; "" if it is valid
  std::vector<std::string> covered;  // marks of coverage: "type/Clip-13/T=float"
  // If set, the case is a pair: the model, and the same after this (fuzz/meta/transformation.h).
  std::string transformation = {};
};

constexpr std::string_view before_transformation = " | ";

// Returns the text with the transformation: "Neg-13(float[2]~real) | identity=values".
inline std::string text_of(const Case& one) {
  if (one.transformation.empty()) return one.text;
  return one.text + std::string(before_transformation) + one.transformation;
}

class Source {
 public:
  virtual ~Source() = default;
  // Throws Error for a number without a case.
  virtual Case make(std::uint64_t number) const = 0;
};

}  // namespace touchstone::fuzz
