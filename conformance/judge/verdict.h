// Verdicts of the judge. All results use these names.
#pragma once

#include <string_view>

namespace touchstone::judge {

enum class Verdict {
  // right
  exact,
  within,
  in_set,
  profile,
  // neither right nor wrong
  open,
  unsupported,
  mistrusted,
  waived,
  // wrong
  wrong_value,
  wrong_shape,
  wrong_type,
  rejected_valid,
  accepted_invalid,
  nondeterministic,
  wrote_input,
  overrun,
  unwritten,
  crash,
  timeout,
  out_of_memory,
  // our own fault
  harness,
};

std::string_view name(Verdict verdict);  // spelling in reports: "wrong-value", "in-set"
bool is_pass(Verdict verdict);
bool is_fail(Verdict verdict);
// Returns the worse of two verdicts, for a node of several outputs. Order: fail, then harness,
// mistrusted, unsupported, open, then the passes.
Verdict worse(Verdict a, Verdict b);

}  // namespace touchstone::judge
