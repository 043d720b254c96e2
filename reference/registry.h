// Which kernels there are. The table is generated: one row an operator version that has semantics.
#pragma once

#include <string_view>

#include <optional>
#include <vector>

#include "model/schema.h"
#include "reference/call.h"
#include "reference/facts.h"

namespace touchstone {

// What runs before a kernel and without data: attribute defaults, rules, output types and shapes.
struct Inferred {
  std::vector<Type> types;                   // one an output of the version
  std::vector<std::optional<Shape>> shapes;  // none where a shape is not known
  bool partial = false;  // something it depends on (a shape, a value) was not known

  void add(Type type, std::optional<Shape> shape) {
    types.push_back(type);
    shapes.push_back(std::move(shape));
  }
};
using Infer = Inferred (*)(const Facts& facts);

struct ReferenceEntry {
  const Signature* signature;
  Kernel native;
  Infer infer;  // null for structural entries that cannot say before they run
  std::string_view
      meaning;  // "Clip-11": versions with equal semantics share one kernel; this names it
};

const ReferenceEntry* find_entry(const Signature& signature);  // null: no semantics yet

}  // namespace touchstone
