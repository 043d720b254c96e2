// Float attributes of a call on the fast executor.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

#include "reference/facts.h"

namespace touchstone::optimized {

// Returns a float attribute: the node's, else the version's default, else `otherwise`.
inline double float_attribute(const Facts& facts, std::string_view attribute, double otherwise) {
  if (facts.given(attribute)) return facts.number(attribute);
  for (const AttributeSpec& spec : facts.signature().attributes) {
    if (spec.name == attribute && !spec.default_json.empty())
      return std::strtof(std::string(spec.default_json).c_str(), nullptr);
  }
  return otherwise;
}

}  // namespace touchstone::optimized
