// A registry of toy kernels, so that the interpreter is tested without the generated ones.
#pragma once

#include "model/testing.h"
#include "reference/interpreter.h"

namespace touchstone::testing {

// Injected faults of the toy kernels, for tests that enable them.
struct Mischief {
  bool leave_output_out = false;
  bool run_out_of_memory = false;
  bool ask_for_too_much = false;  // a vector of more elements than there are bytes
  Index rank = 1;                 // the outputs' rank
};
Mischief& mischief();

Value scalar(bool value);
Value scalar(Index value);
std::vector<float> held(const Value& value);

// Resolves and runs a model, with `values` fed to X.
std::map<std::string, Value> run_floats(Model model, std::vector<float> values,
                                        const RunOptions& options = {});

}  // namespace touchstone::testing
