// Contents of a library that runs a few given models and no other.
#pragma once

#include <map>
#include <set>
#include <string>

#include "model/graph.h"
#include "optimized/registry/components.h"
#include "optimized/session.h"

namespace touchstone::optimized {

struct Bundled {
  Model model;                                     // after the passes of a session
  std::set<std::string> operators;                 // "Conv-11", "ai.onnx.ml.Scaler-1", ..
  std::set<std::string> families, fused_families;  // names in optimized/lowering/families.cc
  // True if plans at run time decide which it takes: it has subgraphs.
  bool all_families = false;
  std::set<Component> components;  // that its plan takes; all without a plan
};

// The model must be resolved and valid. Sizes that `options.dims` leaves open stay open. `planned`:
// false if the library may run on another instruction set than chosen_isa(), so that it may need
// what another plan takes. Throws Error as Session does.
Bundled bundled(Model model, const SessionOptions& options, bool planned);

}  // namespace touchstone::optimized
