// Round trip of saving and loading.
#include "core/files.h"
#include "model/compact.h"
#include "model/external_data.h"
#include "model/testing.h"

namespace touchstone::testing {
namespace {

// Both files come from save_model, so equal bytes mean equal models: maps are written in order,
// tensors always as raw data.
void expect_round_trip(const Model& model) {
  const Folder folder;
  save_model(model, folder.path() / "one");
  const Model read = load_model(folder.path() / "one", Limits());
  save_model(read, folder.path() / "two");
  EXPECT_EQ(open_trusted(folder.path() / "one").read_all(Limits()),
            open_trusted(folder.path() / "two").read_all(Limits()));
  EXPECT_EQ(read.graph.nodes.size(), model.graph.nodes.size());
  EXPECT_EQ(read.graph.initializers.size(), model.graph.initializers.size());
  EXPECT_EQ(read.functions.size(), model.functions.size());

  const std::string bytes = compact(model);
  save_model(from_compact(bytes_of(bytes)), folder.path() / "three");
  EXPECT_EQ(open_trusted(folder.path() / "one").read_all(Limits()),
            open_trusted(folder.path() / "three").read_all(Limits()));
  // Cut off at every size up to 64 bytes, then in ever wider steps.
  for (std::size_t size = 0; size < bytes.size(); size += 1 + size / 64) {
    try {
      from_compact(bytes_of(bytes).first(size));
      ADD_FAILURE() << size << " of " << bytes.size() << " bytes are a model";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind, ErrorKind::invalid_model) << error.what();
    }
  }
}

TEST(Save, EveryKindOfAttribute) {
  Model made = chain({node("Relu", {"X"}, {"Y"})});
  SparseTensor sparse;
  sparse.values = tensor({5});
  sparse.indices = Tensor(Type::int64, Shape{1});
  sparse.shape = Shape{4};
  const auto inner =
      std::make_shared<const Graph>(graph({node("Relu", {"X"}, {"b"})}, {}, {floats("b")}));
  const ValueType type = parse_value_type("optional(seq(map(int64,tensor(float))))");
  made.graph.nodes[0].attributes = {
      {"float", attribute(1.5F)},
      {"int", attribute(Index{-7})},
      {"string", attribute(std::string("a\0b", 3))},
      {"tensor", attribute(tensor({1, 2}))},
      {"graph", attribute(inner)},
      {"sparse", attribute(sparse)},
      {"type", attribute(type)},
      {"floats", attribute(std::vector<float>{1, 2})},
      {"ints", attribute(std::vector<Index>{})},
      {"strings", attribute(std::vector<std::string>{"", "x"})},
      {"tensors", attribute(std::vector<Tensor>{tensor({}), tensor({3})})},
      {"graphs", attribute(std::vector<std::shared_ptr<const Graph>>{inner, inner})},
      {"sparses", attribute(std::vector<SparseTensor>{sparse})},
      {"types", attribute(std::vector<ValueType>{type, tensor_type(Type::int4)})},
      {"reference", reference(std::vector<float>{}, "outer")}};
  made.graph.sparse_initializers.emplace("s", sparse);
  expect_round_trip(made);

  const Folder folder;
  save_model(made, folder.path() / "m");
  const auto read = load_model(folder.path() / "m", Limits()).graph.nodes[0].attributes;
  EXPECT_EQ(std::get<std::string>(read.at("string").is), std::string("a\0b", 3));
  EXPECT_EQ(std::get<ValueType>(read.at("type").is), type);
  EXPECT_EQ(read.at("reference").reference, "outer");
  EXPECT_EQ(read.at("reference").is.index(),
            made.graph.nodes[0].attributes.at("reference").is.index());
}

TEST(Save, WeightsAsExternalData) {
  const Folder folder;
  Model made = chain({node("Relu", {"X"}, {"Y"})});
  made.graph.initializers["a"] = tensor({1, 2});
  made.graph.initializers["b"] = tensor({3});
  Tensor texts(Type::string, Shape{1});
  texts.data<std::string>()[0] = "x";
  made.graph.initializers["c"] = texts;
  save_model(made, folder.path() / "one");
  save_model_and_data(made, folder.path() / "two");
  EXPECT_EQ(std::filesystem::file_size(folder.path() / "two.data"), 3 * sizeof(float));
  const Model read = load_model(folder.path() / "two", Limits());
  save_model(read, folder.path() / "three");
  EXPECT_EQ(open_trusted(folder.path() / "one").read_all(Limits()),
            open_trusted(folder.path() / "three").read_all(Limits()));
  std::filesystem::remove(folder.path() / "two.data");
  EXPECT_THROW(load_model(folder.path() / "two", Limits()), Error);
}

TEST(Save, RealModels) {
  for (const char* name : {"light/light_resnet50.onnx", "simple/test_sequence_model1/model.onnx"}) {
    expect_round_trip(
        load_model(std::filesystem::path(ONNX_WHEEL) / "backend/test/data" / name, Limits()));
  }
  expect_round_trip(load_model(
      std::filesystem::path(TOUCHSTONE_SOURCE) / "model/testdata/every_type.onnx", Limits()));
}

TEST(Save, FunctionsAndShapes) {
  Model made = chain({node("F", {"X"}, {"Y"})});
  made.graph.nodes[0].domain = "local";
  made.graph.inputs[0].shape = {Dim{3, ""}, Dim{{}, "n"}, Dim{}};
  made.functions.push_back(function("F", {"x"}, {"y"}, {node("Relu", {"x"}, {"y"})}));
  made.functions[0]->default_attributes.emplace("d", attribute(Index{4}));
  made.functions[0]->attributes = {"e"};
  expect_round_trip(made);
}

}  // namespace
}  // namespace touchstone::testing
