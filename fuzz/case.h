// Cases of the fuzzer and the sources that generate them. A campaign is a range of numbers, and a
// source generates the case of a number, the same one on every machine.
#pragma once

#include <cstdint>
#include <map>
#include <string>
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
};

class Source {
 public:
  virtual ~Source() = default;
  // Throws Error for a number without a case.
  virtual Case make(std::uint64_t number) const = 0;
};

}  // namespace touchstone::fuzz
