// Declarations of inferred types and shapes in a model, for other programs to read.
#pragma once

#include "core/limits.h"
#include "model/graph.h"

namespace touchstone::transform {

// Counts of sizes in the declarations of computed values.
struct DeclaredSizes {
  Index values = 0;  // values with a declared shape
  Index numbers = 0, expressions = 0, unknown = 0;
};

// Infers the shapes of a resolved and valid model and declares them in the main graph and in bodies
// without inputs (branches): sizes as numbers, or as size expressions in the place of symbols ("2*N
// + 1"). Inputs' sizes without a name get one. Declared names and numbers are kept where both
// stand.
DeclaredSizes declare_shapes(Model& model, const Limits& limits);

}  // namespace touchstone::transform
