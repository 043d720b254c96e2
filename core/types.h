// The standard's 28 element types, by the codes of TensorProto.DataType, and the types of values.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/shape.h"

namespace touchstone {

// The compiler checks the codes against spec/types.yaml, and a test checks that file against onnx.
enum class Type : std::int32_t {
  undefined = 0,
  float32 = 1,
  uint8 = 2,
  int8 = 3,
  uint16 = 4,
  int16 = 5,
  int32 = 6,
  int64 = 7,
  string = 8,
  boolean = 9,
  float16 = 10,
  float64 = 11,
  uint32 = 12,
  uint64 = 13,
  complex64 = 14,
  complex128 = 15,
  bfloat16 = 16,
  float8e4m3fn = 17,
  float8e4m3fnuz = 18,
  float8e5m2 = 19,
  float8e5m2fnuz = 20,
  uint4 = 21,
  int4 = 22,
  float4e2m1 = 23,
  float8e8m0 = 24,
  uint2 = 25,
  int2 = 26,
  float6e2m3 = 27,
  float6e3m2 = 28,
};

// Facts of one element type, from spec/types.yaml.
struct TypeFacts {
  Type type;
  std::string_view name;  // as entries write it: "float", "double", "float8e4m3fn", "bool" ...
  int bits;               // in a file: 4 for int4; 0 for string
  bool is_float, is_integer, is_signed, is_complex;
};

const TypeFacts& facts(Type type);         // throws Error (unsupported) on a code outside the 28
Type type_by_name(std::string_view name);  // Type::undefined if there is none
inline std::string_view name(Type type) { return facts(type).name; }
inline bool is_packed(Type type) { return facts(type).bits > 0 && facts(type).bits < 8; }

// The type of a value: a tensor of some element type, or a container.
struct ValueType {
  enum class Kind { tensor, sparse_tensor, sequence, optional, map };
  Kind kind = Kind::tensor;
  Type element = Type::undefined;          // for tensor and sparse_tensor; the key type of map
  std::shared_ptr<const ValueType> inner;  // for sequence, optional, map

  friend bool operator==(const ValueType& a, const ValueType& b);
};

ValueType tensor_type(Type element);
ValueType sparse_type(Type element);
ValueType sequence_type(ValueType inner);
ValueType optional_type(ValueType inner);
ValueType map_type(Type key, ValueType value);

// Returns "tensor(float)", "seq(tensor(int64))", "map(int64,tensor(float))" ...
std::string text(const ValueType& type);
// The inverse of text(). Throws Error: usage on malformed text, limit past depth 32.
ValueType parse_value_type(std::string_view text);

}  // namespace touchstone
