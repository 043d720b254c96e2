// Starting points that tests of this folder share.
#pragma once

#include "conformance/suites/maker.h"
#include "fuzz/op/draw.h"

namespace touchstone::fuzz {

inline const Knowledge& known_of_suite() {
  static const Knowledge all(suites::lines_of_spec());
  return all;
}

}  // namespace touchstone::fuzz
