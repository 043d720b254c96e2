// Slips: what a runtime may get wrong about what it is given and what it answers, whatever the
// operator. It takes NaN for zero, loses a sign, the last element, an attribute; beyond that it is
// right. Each is a mutant of the reference, and a case is worth its time if it tells one from the
// definition.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/tensor.h"
#include "model/graph.h"

namespace touchstone {

// What a node is given.
struct Given {
  Node node;
  std::vector<Value> inputs;
};

struct Slip {
  std::string name;                                      // "x0: NaN is 0", "mode=cubic: not heard"
  std::function<std::optional<Given>(const Given&)> of;  // none where it would change nothing
};

// Those that this node's inputs and attributes allow. Names say what kind of value an attribute
// has, so that each kind is a slip of its own.
std::vector<Slip> slips_of(const Given& right);

struct AnswerSlip {
  std::string name;                                 // "y0: the last is 0"
  std::function<bool(std::vector<Value>&)> change;  // false where it changes nothing
};

// Those of a right answer, absent where nobody asks.
std::vector<AnswerSlip> answer_slips_of(const std::vector<Value>& right);

}  // namespace touchstone
