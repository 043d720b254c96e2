// Compiled form of the files in patterns/: a table of the nodes that match, and functions for
// conditions and replacement. generated/transform/patterns.cc fills it in.
#pragma once

#include <span>
#include <string_view>

#include "transform/optimize/passes.h"

namespace touchstone::transform {

class PatternMatch;
class PatternRewriter;

// Input of a node in a pattern.
struct MatchInput {
  enum class Kind { value, constant, number } kind = Kind::value;
  int slot = -1;          // index into the pattern's values; -1 for a number
  bool optional = false;  // may be omitted
  double number = 0;      // one element, equal to this after rounding to its type
};

struct MatchNode {
  std::string_view domain, op;
  std::span<const int> versions;       // since-versions, resolved when the table is generated
  std::span<const MatchInput> inputs;  // exactly these
  std::span<const int> outputs;        // slots; an output that is -1 or not listed must be unused
  bool either_order = false;           // of the first two inputs
};

struct Pattern {
  std::string_view name, pass, doc, source;
  Level level;
  bool exact;
  // Opsets of ai.onnx in which the replacement can be expressed.
  Index min_opset, max_opset;
  std::span<const std::string_view> slots;                   // the names of its values
  std::span<const std::span<const MatchNode>> alternatives;  // the last node of each is its root
  bool (*when)(const PatternMatch& found);
  void (*replace)(
      PatternRewriter& rewrite);  // null: the pass that queries the matches acts on them itself
};

std::span<const Pattern> all_patterns();  // sorted by name

}  // namespace touchstone::transform
