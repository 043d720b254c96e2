// What else is right where a question of the standard may be ruled otherwise than we do. The judge
// asks when our own ruling refuses an answer.
#pragma once

#include <vector>

#include "reference/openings.h"
#include "reference/readings/wide_call.h"
#include "reference/registry.h"

namespace touchstone {

struct Ruling {
  const char* question;  // Q027
  Kernel native;  // of another ruling (`profiles:`); null where an answer is followed (`open:`)
  Infer infer;
  WideEntry wide;  // without functions where every output is judged exactly
  Opening opening;
};

// In the order of the entry; generated.
const std::vector<Ruling>& rulings_of(const Signature& signature);

}  // namespace touchstone
