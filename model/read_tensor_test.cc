// Tensors from a file: all types in both fields, and data that contradicts type or shape.
#include "core/files.h"
#include "model/testing.h"

namespace touchstone::testing {
namespace {

Model every_type() {
  return load_model(std::filesystem::path(TOUCHSTONE_SOURCE) / "model/testdata/every_type.onnx",
                    Limits());
}

pb::TensorProto proto(Type type, std::vector<Index> dims) {
  pb::TensorProto made;
  made.set_name("w");
  made.set_data_type(static_cast<int>(type));
  for (const Index dim : dims) made.add_dims(dim);
  return made;
}

pb::TensorProto raw(Type type, std::vector<Index> dims, std::string bytes) {
  pb::TensorProto made = proto(type, std::move(dims));
  made.set_raw_data(std::move(bytes));
  return made;
}

pb::TensorProto ints(Type type, std::vector<Index> dims, std::vector<int> entries) {
  pb::TensorProto made = proto(type, std::move(dims));
  for (const int entry : entries) made.add_int32_data(entry);
  return made;
}

std::string bytes_in(const Tensor& tensor) {
  std::string bytes;
  for (const std::byte b : tensor.bytes()) bytes.push_back(static_cast<char>(b));
  return bytes;
}

Tensor read(const pb::TensorProto& made) { return parse(made).graph.initializers.at("w"); }

TEST(ReadTensor, EveryTypeReadsAlikeFromBothForms) {
  const Model model = every_type();
  int pairs = 0;
  for (const auto& [name, tensor] : model.graph.initializers) {
    if (name.find("_raw") == std::string::npos) continue;
    const Tensor& typed = model.graph.initializers.at(name.substr(0, name.size() - 4) + "_typed");
    EXPECT_EQ(tensor.type(), typed.type());
    EXPECT_EQ(tensor.shape(), (Shape{5}));
    EXPECT_EQ(bytes_in(tensor), bytes_in(typed)) << name;
    ++pairs;
  }
  EXPECT_EQ(pairs, 27);
}

TEST(ReadTensor, CodesAreWhereTheStandardSays) {
  const Model model = every_type();
  const auto held = [&](const std::string& name) { return model.graph.initializers.at(name); };
  // Codes of 6 bits: 5 42 15 52 25. Of 4 bits: 5 10 15 4 9. Of 2 bits: 1 2 3 0 1.
  EXPECT_EQ(unpack(held("FLOAT6E2M3_raw")), (std::vector<std::uint8_t>{5, 42, 15, 52, 25}));
  EXPECT_EQ(bytes_in(held("UINT4_typed")), std::string("\xA5\x4F\x09"));
  EXPECT_EQ(bytes_in(held("INT2_typed")), std::string("\x39\x01"));
  EXPECT_EQ(held("UINT16_typed").data<std::uint16_t>()[0], 5 + 256 * 16);
  EXPECT_EQ(held("STRING_typed").data<std::string>()[1], std::string("\xC3\0\xA4", 3));
}

TEST(ReadTensor, RawDataHasExactlyTheBytesOfItsElements) {
  EXPECT_EQ(read(raw(Type::float32, {2}, std::string(8, 'x'))).size(), 2);
  thrown("model/tensor-data", [] { read(raw(Type::float32, {2}, std::string(7, 'x'))); });
  thrown("model/tensor-data", [] { read(raw(Type::float32, {2}, std::string(9, 'x'))); });
  thrown("model/tensor-data", [] { read(raw(Type::int4, {3}, "x")); });
  thrown("model/tensor-data", [] { read(raw(Type::int4, {3}, "xxx")); });
  EXPECT_EQ(read(raw(Type::int4, {3}, "xx")).size(), 3);
  EXPECT_EQ(read(raw(Type::float6e3m2, {5}, "\x11\x11\x11\x11")).size(), 5);
  thrown("model/tensor-data", [] { read(raw(Type::float6e3m2, {5}, "\x11\x11\x11")); });
}

TEST(ReadTensor, BitsBehindTheLastElementAreCleared) {
  EXPECT_EQ(bytes_in(read(raw(Type::uint4, {3}, "\xFF\xFF"))), "\xFF\x0F");
  EXPECT_EQ(bytes_in(read(ints(Type::uint2, {5}, {255, 255}))), "\xFF\x03");
}

TEST(ReadTensor, TypedDataHasExactlyTheEntriesOfItsElements) {
  thrown("model/tensor-data", [] { read(ints(Type::int32, {2}, {1})); });
  thrown("model/tensor-data", [] { read(ints(Type::int32, {2}, {1, 2, 3})); });
  thrown("model/tensor-data", [] { read(ints(Type::int4, {3}, {1})); });
  thrown("model/tensor-data", [] { read(proto(Type::float32, {1})); });
  EXPECT_EQ(read(proto(Type::float32, {0, 5})).size(), 0);
  EXPECT_EQ(read(ints(Type::int32, {}, {7})).data<std::int32_t>()[0], 7);
}

TEST(ReadTensor, EntriesFitTheirType) {
  EXPECT_EQ(read(ints(Type::int8, {2}, {-128, 127})).data<std::int8_t>()[0], -128);
  thrown("model/tensor-data", [] { read(ints(Type::int8, {1}, {128})); });
  thrown("model/tensor-data", [] { read(ints(Type::uint8, {1}, {-1})); });
  EXPECT_EQ(bytes_in(read(ints(Type::int4, {2}, {-120}))),
            "\x88");  // a byte of signed elements may be written signed or unsigned
  EXPECT_EQ(bytes_in(read(ints(Type::int4, {2}, {136}))), "\x88");
  thrown("model/tensor-data", [] { read(ints(Type::int4, {2}, {-129})); });
  thrown("model/tensor-data", [] { read(ints(Type::uint4, {2}, {-1})); });
  thrown("model/tensor-data", [] { read(ints(Type::uint16, {1}, {65536})); });
  thrown("model/tensor-data", [] { read(ints(Type::float16, {1}, {-1})); });
  thrown("model/tensor-data", [] { read(ints(Type::float8e5m2, {1}, {256})); });
  thrown("model/tensor-data", [] { read(ints(Type::float6e2m3, {1}, {64})); });
  thrown("model/tensor-data", [] { read(ints(Type::boolean, {1}, {2})); });
  pb::TensorProto wide = proto(Type::uint32, {1});
  wide.add_uint64_data(std::uint64_t{1} << 32);
  thrown("model/tensor-data", [&] { read(wide); });
}

TEST(ReadTensor, ABoolIsZeroOrOne) {
  EXPECT_EQ(read(raw(Type::boolean, {2}, std::string("\0\1", 2))).size(), 2);
  thrown("model/tensor-data", [] { read(raw(Type::boolean, {2}, "\1\2")); });
}

TEST(ReadTensor, OneFieldHoldsTheData) {
  pb::TensorProto both = ints(Type::int32, {1}, {1});
  both.set_raw_data("1234");
  thrown("model/tensor-data", [&] { read(both); });
  thrown("model/tensor-data", [] { read(ints(Type::float32, {1}, {1})); });
  thrown("model/tensor-data", [] { read(raw(Type::string, {1}, "x")); });
}

TEST(ReadTensor, SegmentsAreRefusedByName) {
  pb::TensorProto part = raw(Type::uint8, {1}, "x");
  part.mutable_segment()->set_begin(0);
  EXPECT_EQ(thrown("model/tensor-segment", [&] { read(part); }).kind, ErrorKind::unsupported);
}

TEST(ReadTensor, TypesThatNobodyKnows) {
  thrown("model/tensor-type", [] { read(proto(Type::undefined, {})); });
  EXPECT_EQ(thrown("model/type-unknown", [] { read(proto(static_cast<Type>(29), {})); }).kind,
            ErrorKind::unsupported);
  thrown("model/type-unknown", [] { read(proto(static_cast<Type>(-1), {})); });
}

TEST(ReadTensor, ShapesThatCannotBe) {
  thrown("model/tensor-shape", [] { read(proto(Type::float32, {-1})); });
  const Error error = thrown("limit/elements", [] {
    read(proto(Type::float32, {Index{1} << 40, Index{1} << 40}));
  });
  EXPECT_EQ(error.kind, ErrorKind::limit);
  EXPECT_EQ(error.place, "initializer 'w', main graph");
  EXPECT_EQ(thrown("model/tensor-data", [] { read(proto(Type::float32, {Index{1} << 30})); }).place,
            "initializer 'w', main graph");  // a small file cannot request gigabytes
}

pb::ModelProto sparse(std::vector<Index> dims, std::vector<Index> indices,
                      std::vector<Index> indices_dims) {
  pb::ModelProto made = proto_model();
  pb::SparseTensorProto& held = *made.mutable_graph()->add_sparse_initializer();
  for (const Index dim : dims) held.add_dims(dim);
  *held.mutable_values() = ints(Type::int32, {2}, {7, 8});
  *held.mutable_indices() = proto(Type::int64, std::move(indices_dims));
  for (const Index index : indices) held.mutable_indices()->add_int64_data(index);
  return made;
}

TEST(ReadTensor, SparseIndicesLieInsideAndAscend) {
  EXPECT_EQ(parse(sparse({3}, {0, 2}, {2})).graph.sparse_initializers.size(), 1u);
  EXPECT_EQ(parse(sparse({2, 3}, {0, 1, 1, 2}, {2, 2})).graph.sparse_initializers.size(), 1u);
  thrown("model/sparse", [] { parse(sparse({3}, {0, 3}, {2})); });
  thrown("model/sparse", [] { parse(sparse({3}, {-1, 2}, {2})); });
  thrown("model/sparse", [] { parse(sparse({3}, {2, 0}, {2})); });
  thrown("model/sparse", [] { parse(sparse({3}, {1, 1}, {2})); });
  thrown("model/sparse", [] { parse(sparse({3}, {0, 1, 2}, {3})); });
  thrown("model/sparse", [] { parse(sparse({2, 3}, {0, 1, 1, 3}, {2, 2})); });
  thrown("model/sparse", [] { parse(sparse({2, 3}, {0, 1, 1}, {1, 3})); });
  thrown("model/sparse", [] { parse(sparse({}, {0, 1}, {2})); });
  const Index far = Index{1} << 62;  // its square overflows, in a shape without elements
  thrown("model/sparse", [&] {
    parse(sparse({far, far, 0}, {far - 1, far - 1, 0, 1, 1, 0}, {2, 3}));
  });
}

TEST(ReadTensor, ASparseTensorPassesNoLimit) {
  const Error error = thrown("limit/elements", [] {
    parse(sparse({Index{1} << 40, Index{1} << 20}, {0, 1}, {2}));
  });
  EXPECT_EQ(error.kind, ErrorKind::limit);
}

}  // namespace
}  // namespace touchstone::testing
