// Starting points that tests of this folder share.
#pragma once

#include <cstdlib>

#include "conformance/suites/maker.h"
#include "fuzz/op/draw.h"

namespace touchstone::fuzz {

inline const Knowledge& known_of_suite() {
  static const Knowledge all(suites::lines_of_spec());
  return all;
}

// Number of draws per version: that of TOUCHSTONE_DRAWS, or else the given one.
inline int draws(int otherwise) {
  const char* const set = std::getenv("TOUCHSTONE_DRAWS");
  return set ? std::atoi(set) : otherwise;
}

}  // namespace touchstone::fuzz
