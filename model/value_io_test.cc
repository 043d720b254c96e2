// Single values: round trip, and messages of another kind, which are refused.
#include "core/files.h"
#include "model/testing.h"

namespace touchstone::testing {
namespace {

Value again(const Value& value) {
  return parse_value(bytes_of(serialize_value(value)), value.type(), Limits());
}

TEST(ValueIo, Tensors) {
  const Value read = again(tensor({1, 2, 3}));
  EXPECT_EQ(read.tensor().shape(), (Shape{3}));
  EXPECT_EQ(read.tensor().data<float>()[2], 3);
}

TEST(ValueIo, SequencesOfSequences) {
  const Sequence inner{tensor_type(Type::float32), {tensor({1}), tensor({2, 3})}};
  const Sequence outer{Value(inner).type(), {inner, Sequence{tensor_type(Type::float32), {}}}};
  const Value read = again(outer);
  const Sequence& held = std::get<Sequence>(read.is);
  ASSERT_EQ(held.items.size(), 2u);
  EXPECT_EQ(std::get<Sequence>(held.items[0].is).items[1].tensor().data<float>()[1], 3);
  EXPECT_EQ(text(read.type()), "seq(seq(tensor(float)))");
}

TEST(ValueIo, Optionals) {
  const ValueType type = tensor_type(Type::float32);
  EXPECT_EQ(std::get<Optional>(again(Optional{type, nullptr}).is).item, nullptr);
  const Value read = again(Optional{type, std::make_shared<const Value>(tensor({4}))});
  EXPECT_EQ(std::get<Optional>(read.is).item->tensor().data<float>()[0], 4);
}

TEST(ValueIo, Maps) {
  Map map;
  map.key = Type::int64;
  map.value = tensor_type(Type::float32);
  map.by_integer.emplace(-3, tensor({1}));
  map.by_integer.emplace(9, tensor({2}));
  const Value read = again(map);
  EXPECT_EQ(std::get<Map>(read.is).by_integer.at(9).tensor().data<float>()[0], 2);
}

TEST(ValueIo, SparseTensors) {
  SparseTensor sparse;
  sparse.values = tensor({5});
  sparse.indices = Tensor(Type::int64, Shape{1});
  sparse.shape = Shape{4};
  EXPECT_EQ(std::get<SparseTensor>(again(sparse).is).shape, (Shape{4}));
}

TEST(ValueIo, AnotherKindIsRefused) {
  const std::string bytes = serialize_value(Sequence{tensor_type(Type::float32), {tensor({1})}});
  thrown("model/value-parse", [&] {
    parse_value(bytes_of(bytes), parse_value_type("seq(seq(tensor(float)))"), Limits());
  });
  thrown("model/value-parse",
         [] { parse_value(bytes_of("garbage"), tensor_type(Type::float32), Limits()); });
}

TEST(ValueIo, KeysAndValuesOfAMapAreAsMany) {
  pb::MapProto proto;
  proto.set_key_type(7);
  proto.add_keys(1);
  const ValueType type = parse_value_type("map(int64,tensor(float))");
  const auto parse_it = [&] { parse_value(bytes_of(proto.SerializeAsString()), type, Limits()); };
  thrown("model/value-parse", parse_it);
  for (int k = 0; k < 2; ++k) {
    pb::TensorProto& item = *proto.mutable_values()->add_tensor_values();
    item.set_data_type(1);
    item.add_float_data(1);
  }
  proto.add_keys(1);
  thrown("model/value-parse", parse_it);  // a duplicate key
}

TEST(ValueIo, FilesMayHoldExternalData) {
  const Folder folder;
  folder.write("data", "0123");
  pb::TensorProto proto;
  proto.set_data_type(2);
  proto.add_dims(4);
  proto.set_data_location(pb::TensorProto::EXTERNAL);
  proto.add_external_data()->set_key("location");
  proto.mutable_external_data(0)->set_value("data");
  folder.write("input_0.pb", proto.SerializeAsString());
  const Value read = load_value(folder.path() / "input_0.pb", tensor_type(Type::uint8), Limits());
  EXPECT_EQ(read.tensor().data<std::uint8_t>()[3], '3');
}

}  // namespace
}  // namespace touchstone::testing
