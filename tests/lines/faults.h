// Faults: injected faults in the inputs that a runtime reads and the outputs that it returns,
// independent of the operator. It reads NaN as zero, drops a sign, the last element or an
// attribute, and is right otherwise. Each is a mutant of the reference; a case is worth its run
// time if it kills one.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/tensor.h"
#include "model/graph.h"

namespace touchstone {

// A node and its input values.
struct Given {
  Node node;
  std::vector<Value> inputs;
};

struct Fault {
  std::string name;                                      // "x0: NaN is 0", "mode=cubic: not heard"
  std::function<std::optional<Given>(const Given&)> of;  // nullopt if it changes nothing
};

// The faults that apply to this node's inputs and attributes. Names include the kind of an
// attribute's value, so that each kind is a mutant of its own.
std::vector<Fault> faults_of(const Given& right);

struct AnswerFault {
  std::string name;                                 // "y0: the last is 0"
  std::function<bool(std::vector<Value>&)> change;  // false if it changes nothing
};

// The faults that apply to these right outputs; an unused output is absent.
std::vector<AnswerFault> answer_faults_of(const std::vector<Value>& right);

}  // namespace touchstone
