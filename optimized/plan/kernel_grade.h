// Kernel of each node of a planned model: how fast a kind it is, and why it is no faster one.
#pragma once

#include <string>
#include <string_view>

#include "optimized/plan/kernel_class.h"

namespace touchstone::optimized {

enum class KernelGrade {
  tuned,      // written or scheduled for speed
  generic,    // compiled from the definition, without a schedule of its own
  reference,  // the interpreter's kernel
  view,       // the same elements in another shape: no kernel
  folded,     // computed once, when the plan was made
};

constexpr std::string_view name(KernelGrade grade) {
  switch (grade) {
    case KernelGrade::tuned:
      return "tuned";
    case KernelGrade::generic:
      return "generic";
    case KernelGrade::reference:
      return "reference";
    case KernelGrade::view:
      return "view";
    case KernelGrade::folded:
      return "folded";
  }
  return "";
}

struct NodePlacement {
  std::string node;     // "'conv1' (Conv)"; in a subgraph, "'loop' (Loop) body: 'conv1' (Conv)"
  std::string version;  // "Conv-11"; "" for a call of a function
  std::string kernel;   // "convolution 14x2 avx512"; "" for views and folded nodes
  KernelGrade grade = KernelGrade::tuned;
  KernelClass kernel_class = KernelClass::view;
  std::string why;  // of a generic or reference kernel
  double microseconds =
      0;  // of the last run, if times are kept; a shared step's: at its first node
};

}  // namespace touchstone::optimized
