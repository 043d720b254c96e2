// Random draws from a seed, the same on every machine.
#pragma once

#include "fuzz/line_edit.h"
#include "fuzz/random.h"

namespace touchstone::mutation {

using fuzz::mutated;
using fuzz::odd_number;
using fuzz::Random;

}  // namespace touchstone::mutation
