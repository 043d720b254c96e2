// Transformations after which a model means the same: metamorphic cases. A recipe names one, with a
// parameter: "opset-up=21". It is the same function of a case on every machine.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fuzz/case.h"
#include "fuzz/random.h"

namespace touchstone::fuzz {

// Targets on which a run after the transformation gives the bits of the run before it.
enum class SameBits { nowhere, on_our_own, everywhere };

// A case after a transformation, and how its runs compare with those of the case before.
struct Variant {
  Case is;              // without a transformation
  std::string options;  // of the target, in addition to its own
  bool external = false;
  // True: the reference gives the same bits, the sign of zeros aside. Otherwise within bounds.
  bool exact = true;
  // False: where the reference gives others, the case does not count.
  bool must_agree = true;
  SameBits same_bits = SameBits::nowhere;
  // Turns the outputs of its runs into those of the runs of the case before; null: they are these.
  std::function<std::vector<Feeds>(std::vector<Feeds>)> back = {};
};

struct Transformation {
  std::string_view name, doc;
  bool of_fast;                                             // it is an option of the fast executor
  bool names_parameter;                                     // the parameter belongs to the label
  std::vector<std::string> (*parameters)(const Case& one);  // those that may apply
  // Changes a variant that is still the case, resolved. Throws Error (unsupported or usage) if it
  // does not apply.
  void (*apply)(Variant& variant, const std::string& parameter);
};

const std::vector<Transformation>& all_transformations();

// Applies the case's recipe. Throws Error: usage for an unknown one, unsupported where it does not
// apply.
Variant transformed(const Case& one);

// Returns the transformation's name for signatures and marks, with its parameter if that is a name:
// "opset-up", "pass=drop-dead".
std::string label_of(const std::string& recipe);
// Returns one sentence.
std::string_view doc_of_recipe(const std::string& recipe);

// Draws a recipe that applies to a valid case, "" if none was found. `fast`: options of the fast
// executor may be drawn.
std::string draw_transformation(const Case& one, bool fast, Random& random);

}  // namespace touchstone::fuzz
