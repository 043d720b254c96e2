// Runs a case on the reference: the last word on its validity.
#pragma once

#include <string>

#include "conformance/suites/line.h"
#include "core/limits.h"

namespace touchstone::fuzz {

struct Bounds {
  Index elements = 4096;  // of all inputs and outputs together
  Index work = 200'000;   // elementary operations of the reference
};

struct Trial {
  bool valid = false;
  bool small = true;  // false if it exceeds the bounds
  std::string rule;   // violated rule, "" if an error cites none
  std::string why;
};

Trial try_case(const suites::LineModel& made, const Bounds& bounds);

}  // namespace touchstone::fuzz
