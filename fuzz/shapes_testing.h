// Holds inferred shapes to those of a run: helpers of tests.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

#include "core/error.h"
#include "fuzz/case.h"
#include "fuzz/graph/size_formula.h"
#include "reference/shapes/proved_shapes.h"
#include "reference/shapes/shapes.h"

namespace touchstone::fuzz {

using Symbols = std::map<std::string, Index>;

// Number of dimensions of each kind, over all that were compared.
struct SizeTally {
  Index known = 0;    // not assumed, equal to the run's
  Index assumed = 0;  // true where a note holds
  Index open = 0;     // unnamed or unknown
  std::string wrong;  // each that differs from the run's, on a line

  SizeTally& operator+=(const SizeTally& other) {
    known += other.known;
    assumed += other.assumed;
    open += other.open;
    wrong += other.wrong;
    return *this;
  }
};

// Returns the value of a size's text; nothing if it has a size without a name.
inline std::optional<Index> size_at(const InferredSize& size, const Symbols& symbols) {
  if (size.number) return size.number;
  // A size without a name, or computed in reals.
  if (size.text.find_first_of("?.") != std::string::npos) return std::nullopt;
  return compute_size(size.text, [&](const std::string& name) {
    const auto found = symbols.find(name);
    if (found == symbols.end())
      throw Error(ErrorKind::internal, "size '" + size.text + "' names an unknown symbol");
    return found->second;
  });
}

inline void compare_value(const InferredValue& value, const Shape& actual, const Symbols& symbols,
                          SizeTally& tally) {
  if (!value.shape) {
    tally.open += actual.size();
    return;
  }
  if (static_cast<Index>(value.shape->size()) != actual.size()) {
    if (!value.rank_assumed) {
      tally.wrong += fmt::format("{}: rank {}, the run has {}\n", value.name, value.shape->size(),
                                 actual.size());
    }
    tally.assumed += actual.size();
    return;
  }
  for (Index axis = 0; axis < actual.size(); ++axis) {
    const InferredSize& size = (*value.shape)[static_cast<std::size_t>(axis)];
    const std::optional<Index> expected = size_at(size, symbols);
    if (!expected) {
      ++tally.open;
    } else if (size.assumed || value.rank_assumed) {
      ++tally.assumed;
    } else if (*expected == actual[axis]) {
      ++tally.known;
    } else {
      tally.wrong += fmt::format("{}: dimension {} is '{}', hence {}, the run has {}\n", value.name,
                                 axis, size.text, *expected, actual[axis]);
    }
  }
}

// Sizes of the symbols that the model's inputs declare.
inline Symbols symbols_of(const Model& model, const Feeds& feeds) {
  Symbols symbols;
  for (const ValueInfo& input : model.graph.inputs) {
    const auto fed = feeds.find(input.name);
    if (!input.shape || fed == feeds.end() || !fed->second.is_tensor()) continue;
    const Shape shape = fed->second.tensor().shape();
    for (std::size_t axis = 0; axis < input.shape->size(); ++axis) {
      const std::string& symbol = (*input.shape)[axis].symbol;
      if (!symbol.empty()) symbols[symbol] = shape[axis];
    }
  }
  return symbols;
}

inline std::map<std::string, Shape> shapes_of(const Feeds& feeds) {
  std::map<std::string, Shape> shapes;
  for (const auto& [name, value] : feeds) {
    if (value.is_tensor()) shapes.emplace(name, value.tensor().shape());
  }
  return shapes;
}

// Compares the shapes that inference states for values of the main graph with those of `values`.
inline SizeTally compare_sizes(const InferredShapes& inferred, const Symbols& symbols,
                               const std::map<std::string, Value>& values) {
  SizeTally tally;
  for (const InferredValue& value : inferred.values) {
    const auto found = values.find(value.name);
    if (!value.path.empty() || found == values.end() || !found->second.is_tensor()) continue;
    if (value.type && text(*value.type) != text(found->second.type()))
      tally.wrong += fmt::format("{}: type {}, the run has {}\n", value.name, text(*value.type),
                                 text(found->second.type()));
    compare_value(value, found->second.tensor().shape(), symbols, tally);
  }
  return tally;
}

struct ProofTally {
  Index proved = 0, open = 0;  // number of tensors
};

// Compares types and shapes of the last proof with those of `values`, of a valid run.
inline ProofTally compare_proofs(const ShapeProver& prover,
                                 const std::map<std::string, Value>& values) {
  EXPECT_TRUE(prover.violations().empty() && !prover.breaks_surely());
  ProofTally tally;
  for (const auto& [name, value] : values) {
    const ProvedValue known = prover.value(name);
    if (known.type) {
      EXPECT_EQ(text(*known.type), text(value.type())) << name;
    }
    if (!value.is_tensor()) continue;
    ++(known.shape ? tally.proved : tally.open);
    if (known.shape) {
      EXPECT_EQ(text(*known.shape), text(value.tensor().shape())) << name;
    }
  }
  return tally;
}

}  // namespace touchstone::fuzz
