// What a file of patterns/ becomes: which nodes a match consists of, as a table, and its conditions
// and replacement, as functions. generated/optimized/patterns.cc fills this in.
#pragma once

#include <span>
#include <string_view>

#include "optimized/passes/passes.h"

namespace touchstone {

class Found;
class Rewrite;

// An input of a node in a pattern.
struct MatchInput {
  enum class Kind { value, constant, number } kind = Kind::value;
  int slot = -1;          // of the pattern's values; -1 of a number
  bool optional = false;  // may be left out
  double number = 0;      // one element, equal to this once rounded to its type
};

struct MatchNode {
  std::string_view domain, op;
  std::span<const int> versions;       // since-versions, resolved when the table is made
  std::span<const MatchInput> inputs;  // exactly these
  std::span<const int> outputs;        // slots; what is not named here nobody may use; -1: the same
  bool either_order = false;           // of the first two inputs
};

struct Pattern {
  std::string_view name, pass, doc, source;
  Level level;
  bool exact;
  Index least_opset, most_opset;            // of ai.onnx; what the replacement can be written in
  std::span<const std::string_view> slots;  // the names of its values
  std::span<const std::span<const MatchNode>> alternatives;  // the last node of each is its root
  bool (*when)(const Found& found);
  void (*replace)(Rewrite& rewrite);  // null: whoever asks for the matches knows what to do
};

std::span<const Pattern> all_patterns();  // sorted by name

}  // namespace touchstone
