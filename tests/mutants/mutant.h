// The interface of a library of mutants: a table that ends with a null name, under the symbol
// touchstone_mutants.
#pragma once

#include "reference/call.h"

namespace touchstone {

struct Mutant {
  const char* name;
  Kernel run;
};

}  // namespace touchstone
