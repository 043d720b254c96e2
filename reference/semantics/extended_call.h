// One evaluation of one node in extended precision: exact inputs, and outputs that carry their
// bounds.
#pragma once

#include <string>
#include <vector>

#include "model/graph.h"
#include "reference/semantics/bounded.h"
#include "reference/semantics/exact.h"

namespace touchstone {

// One output with its bounds.
template <class S>
struct ExtendedOutput {
  Shape shape;
  Type type = Type::undefined;  // the judged tensor's
  // False: judge this output exactly, since it is copied, compared or counted.
  bool present = false;
  // Linear positions of the elements in `values`; empty: all elements, in order.
  std::vector<Index> at;
  std::vector<S> values;
  // Sums that elements have in common, as the means of rows: their errors are shared by all
  // elements of a row. 0: there are none.
  Index lanes = 0;
  // Rounding decides an argmax, as the row of a pivot: beside infinities each choice gives another
  // result.
  bool unsure_choice = false;
  // Random draws whose frequencies were compared with their distribution, and why chance does not
  // give them ("": it may).
  Index drawn = 0;
  std::string improbable;
};

template <class S>
struct ExtendedCall {
  const Node* node = nullptr;
  const Signature* signature = nullptr;
  std::vector<Value> inputs;    // as the target received them
  std::vector<Value> observed;  // the target's answer: recurrences and choices follow it
  std::vector<bool> wanted;
  Index sample = 0;        // 0: every element; else about this many elements of each output
  std::uint64_t seed = 0;  // selects the sample
  std::vector<ExtendedOutput<S>> outputs;
  // Replaces inputs that were not observed: their elements with the bounds accumulated so far. Null
  // if the input was observed, and past the end. Only bounded semantics uses it.
  std::vector<const std::vector<Bounded>*> carried;
};

// An alternative formula (`also:` in an entry): accepted in addition to the first in class fast.
struct ExtendedForm {
  const char* name;
  void (*bounded)(ExtendedCall<Bounded>&);
  void (*exact)(ExtendedCall<Exact>&);
};

// Extended precision kernels of one operator version.
struct ExtendedEntry {
  const Signature* signature;
  void (*bounded)(ExtendedCall<Bounded>&);  // null: every output of this entry is judged exactly
  void (*exact)(ExtendedCall<Exact>&);
  double (*multiply_adds)(const ExtendedCall<Bounded>&);  // estimate, to decide whether to sample
  std::vector<ExtendedForm> also;
};

const ExtendedEntry* find_extended(const Signature& signature);

}  // namespace touchstone
