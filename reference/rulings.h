// Alternative rulings of open questions of the standard. The judge tries them if our own ruling
// refuses an answer.
#pragma once

#include <vector>

#include "reference/openings.h"
#include "reference/registry.h"
#include "reference/semantics/extended_call.h"

namespace touchstone {

// One alternative ruling of a question.
struct Ruling {
  const char* question;  // Q027
  Kernel native;  // kernel of another ruling (`profiles:`); null if an answer is followed (`open:`)
  Infer infer;
  ExtendedEntry extended;  // without functions if every output is judged exactly
  Opening opening;
};

// In the entry's order; generated.
const std::vector<Ruling>& rulings_of(const Signature& signature);

}  // namespace touchstone
