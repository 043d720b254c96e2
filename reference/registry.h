// Registry of reference kernels. The table is generated: one row per operator version that has
// semantics.
#pragma once

#include <string_view>

#include <optional>
#include <vector>

#include "model/schema.h"
#include "reference/call.h"
#include "reference/facts.h"

namespace touchstone {

// Results of a node known without data: output types and shapes, after attribute defaults and
// rules.
struct Inferred {
  std::vector<Type> types;                   // one per output of the version
  std::vector<std::optional<Shape>> shapes;  // nothing if a shape is not known
  bool partial = false;                      // true if a required shape or value was not known

  void add(Type type, std::optional<Shape> shape) {
    types.push_back(type);
    shapes.push_back(std::move(shape));
  }
};
using Infer = Inferred (*)(const Facts& facts);

// One row of the registry.
struct ReferenceEntry {
  const Signature* signature;
  Kernel native;
  Infer infer;  // null for structural entries whose shapes are only known after they ran
  std::string_view meaning;  // "Clip-11": names the kernel that versions with equal semantics reuse
};

const ReferenceEntry* find_entry(const Signature& signature);  // null: no semantics yet

}  // namespace touchstone
