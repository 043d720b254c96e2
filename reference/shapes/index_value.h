// Values of index programs: numbers over symbols, lists of them, types, texts and tensors.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/tensor.h"
#include "reference/shapes/symbolic_integer.h"

namespace touchstone {

constexpr Index max_items = 1024;  // of a list

struct IndexTensor;
struct IndexValue;
using IndexList = std::vector<IndexValue>;
using IndexTensors = std::vector<std::shared_ptr<const IndexTensor>>;

struct IndexValue {
  std::variant<std::monostate, SymbolicInteger, SymbolicReal, bool, std::string, Type,
               std::shared_ptr<const IndexList>, std::shared_ptr<const IndexTensor>, IndexTensors>
      is;

  static IndexValue list(IndexList items) {
    return {std::make_shared<const IndexList>(std::move(items))};
  }
  template <class T>
  const T* as() const {
    return std::get_if<T>(&is);
  }
};

// A number of a tensor: an integer, a real or a bool.
using SymbolicElement = std::variant<SymbolicInteger, SymbolicReal, bool>;

// Facts about a tensor over symbols.
struct SymbolicTensor {
  std::vector<SymbolicInteger> sizes;
  bool has_rank = false;                  // false: `sizes` are not known
  std::vector<SymbolicElement> elements;  // row-major; empty if they are not followed
};

// A tensor as a program sees it; views make others. Elements are read at constant places.
struct IndexTensor {
  Type type = Type::undefined;
  std::vector<SymbolicInteger> sizes;
  bool has_rank = false;
  std::function<IndexValue(std::span<const Index>)> element;  // throws Undecided
};

}  // namespace touchstone
