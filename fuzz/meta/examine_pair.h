// Examines a case with a transformation: both models run on the target and must agree.
#pragma once

#include "fuzz/examine.h"

namespace touchstone::fuzz {

// The reference shows first that both mean the same. The runs of the target agree if they have the
// same bits. If not, each is judged as a case of its own: where one is right and the other wrong or
// refused, that is a finding, and so are other bits where the same are promised. If both are wrong,
// the verdict is open: the other levels find it. The pattern of a finding begins with the
// transformation's label.
Outcome examine_pair(const Case& one, Runner& runner, const Enter& enter);

}  // namespace touchstone::fuzz
