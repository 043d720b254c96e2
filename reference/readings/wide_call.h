// One evaluation of one node in a wide reading: exact inputs in, values that carry their bound out.
#pragma once

#include <vector>

#include "model/graph.h"
#include "reference/readings/bounded.h"
#include "reference/readings/exact.h"

namespace touchstone {

template <class S>
struct WideOutput {
  Shape shape;
  Type type = Type::undefined;  // of the tensor that is judged
  bool present = false;         // false: this output has no wide reading (it is moved, compared or
                                // counted: judge it exactly)
  std::vector<Index>
      at;  // linear positions of the elements in `values`; empty: all elements, in order
  std::vector<S> values;
};

template <class S>
struct WideCall {
  const Node* node = nullptr;
  const Signature* signature = nullptr;
  std::vector<Value> inputs;    // as the target saw them
  std::vector<Value> observed;  // what the target answered: recurrences and choices follow it
  std::vector<bool> wanted;
  Index sample = 0;        // 0: every element; else about this many elements of each output
  std::uint64_t seed = 0;  // of the sample
  std::vector<WideOutput<S>> outputs;
  // What stands for an input that nobody saw: its elements with the bounds that they have got so
  // far. Null where the input was seen, and beyond the end. The bounded reading alone heeds it.
  std::vector<const std::vector<Bounded>*> carried;
};

// A form that gives the same numbers otherwise (`also:` in an entry): allowed beside the first one
// in class fast.
struct WideForm {
  const char* name;
  void (*bounded)(WideCall<Bounded>&);
  void (*exact)(WideCall<Exact>&);
};

struct WideEntry {
  const Signature* signature;
  void (*bounded)(WideCall<Bounded>&);  // null: every output of this entry is judged exactly
  void (*exact)(WideCall<Exact>&);
  double (*multiply_adds)(const WideCall<Bounded>&);  // about how many, to decide whether to sample
  std::vector<WideForm> also;
};

const WideEntry* find_wide(const Signature& signature);

}  // namespace touchstone
