// Names of element types, and the round trip of the text form of value types.
#include "core/types.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/numbers/storage.h"
#include "core/tensor.h"

namespace touchstone {
namespace {

TEST(Types, NamesThereAndBack) {
  for (int code = 1; code <= 28; ++code) {
    const auto type = static_cast<Type>(code);
    EXPECT_EQ(type_by_name(name(type)), type);
    with_element(type, [&]<class T>() { EXPECT_EQ(type_of<T>, type); });
  }
  EXPECT_EQ(type_by_name("float32"), Type::undefined);
  for (const int code : {0, 29, -1, 1 << 30}) {
    try {
      facts(static_cast<Type>(code));
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind, ErrorKind::unsupported);
      EXPECT_THAT(error.message, ::testing::HasSubstr(std::to_string(code)));
    }
  }
}

TEST(Types, OnlyTypesUnderEightBitsArePacked) {
  EXPECT_TRUE(is_packed(Type::float6e2m3));
  EXPECT_TRUE(is_packed(Type::int2));
  EXPECT_FALSE(is_packed(Type::boolean));
  EXPECT_FALSE(is_packed(Type::string));
}

TEST(ValueTypes, TextThereAndBack) {
  const ValueType floats = tensor_type(Type::float32);
  for (const ValueType& type :
       {floats, sparse_type(Type::float64), sequence_type(floats),
        optional_type(sequence_type(floats)),
        map_type(Type::string, sequence_type(tensor_type(Type::float8e4m3fn)))}) {
    EXPECT_EQ(parse_value_type(text(type)), type) << text(type);
  }
  EXPECT_EQ(text(map_type(Type::int64, floats)), "map(int64,tensor(float))");
  EXPECT_EQ(parse_value_type("map(int64, tensor(float))"), map_type(Type::int64, floats));
}

TEST(ValueTypes, DifferInEveryPart) {
  const ValueType floats = tensor_type(Type::float32);
  EXPECT_FALSE(floats == tensor_type(Type::float64));
  EXPECT_FALSE(floats == sparse_type(Type::float32));
  EXPECT_FALSE(sequence_type(floats) == optional_type(floats));
  EXPECT_FALSE(sequence_type(floats) == sequence_type(sequence_type(floats)));
  EXPECT_FALSE(map_type(Type::int64, floats) == map_type(Type::string, floats));
}

TEST(ValueTypes, NonsenseIsRefused) {
  for (const char* nonsense :
       {"", "float", "tensor", "tensor(", "tensor()", "tensor(float", "tensor(real)", "seq(float)",
        "map(int64)", "map(,tensor(float))", "tensor(float))", "seq(tensor(float)"}) {
    EXPECT_THROW(parse_value_type(nonsense), Error) << nonsense;
  }
}

// A type from a file or a target's answer may nest to any depth.
TEST(ValueTypes, NestSoDeepAndNoDeeper) {
  const auto nested = [](std::size_t depth) {
    std::string text;
    for (std::size_t k = 0; k < depth; ++k) text += "seq(";
    return text + "tensor(float)" + std::string(depth, ')');
  };
  EXPECT_EQ(text(parse_value_type(nested(32))), nested(32));
  for (const std::size_t depth : {33, 200'000}) {
    try {
      parse_value_type(nested(depth));
      ADD_FAILURE() << depth;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind, ErrorKind::limit);
    }
  }
}

TEST(Values, TellTheirType) {
  const ValueType floats = tensor_type(Type::float32);
  EXPECT_EQ(Value(Tensor(Type::float32, {2})).type(), floats);
  EXPECT_EQ(Value(Sequence{floats, {}}).type(), sequence_type(floats));
  EXPECT_EQ(Value(Optional{floats, nullptr}).type(), optional_type(floats));
  EXPECT_EQ(Value(Map{Type::string, floats, {}, {}}).type(), map_type(Type::string, floats));
  EXPECT_EQ(Value(SparseTensor{Tensor(Type::int8, {1}), Tensor(Type::int64, {1}), {4}}).type(),
            sparse_type(Type::int8));
  EXPECT_TRUE(Value().absent());
  EXPECT_THROW(Value().tensor(), Error);
}

}  // namespace
}  // namespace touchstone
