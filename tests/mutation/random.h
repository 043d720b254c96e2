// Random draws from a seed, the same on every machine.
#pragma once

#include "fuzz/random.h"

namespace touchstone::mutation {

using fuzz::Random;

// Numbers that are likely to break sizes, counts and indices.
Index odd_number(Random& random);

}  // namespace touchstone::mutation
