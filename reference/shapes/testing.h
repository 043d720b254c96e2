// Models and inferred shapes as text: helpers of tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/testing.h"
#include "reference/shapes/shapes.h"

namespace touchstone::testing {

using Dims = std::vector<Dim>;

inline Dim n(const char* symbol) { return Dim{{}, symbol}; }
inline Dim d(Index size) { return Dim{size, ""}; }

inline ValueInfo shaped(const std::string& name, Dims dims, Type type = Type::float32) {
  return value(name, tensor_type(type), std::move(dims));
}

inline Tensor integers(std::vector<Index> values) {
  Tensor made(Type::int64, Shape{static_cast<Index>(values.size())});
  std::copy(values.begin(), values.end(), made.data<Index>());
  return made;
}

inline Tensor one(Index value) { return integers({value}).reshaped(Shape{}); }

inline std::string text_of(const InferredValue& value) {
  if (!value.shape) return "?";
  std::string out;
  for (const InferredSize& size : *value.shape) out += (out.empty() ? "" : ",") + size.text;
  return "[" + out + "]";
}

inline InferredShapes inferred(Model model) {
  resolve(model);
  for (const Error& error : check(model, {})) ADD_FAILURE() << error.rule << ": " << error.what();
  InferredShapes found = infer_shapes(model, Limits::untrusted());
  for (InferredValue& value : found.values) value.node = nullptr;  // the model is destroyed
  return found;
}

inline std::string shape_of(const InferredShapes& found, const std::string& name,
                            const std::string& path = "") {
  for (const InferredValue& value : found.values) {
    if (value.name == name && value.path == path) return text_of(value);
  }
  return "no such value";
}

// "N" for a size that holds by itself, "N!" for one that an assumption about symbols may have made.
inline std::string assumptions_of(const InferredShapes& found, const std::string& name) {
  std::string out;
  for (const InferredValue& value : found.values) {
    if (value.name != name || !value.shape) continue;
    for (const InferredSize& size : *value.shape)
      out += (out.empty() ? "" : ",") + size.text + (size.assumed ? "!" : "");
  }
  return out;
}

}  // namespace touchstone::testing
