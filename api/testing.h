// Test helpers of the C interface: models as bytes, and checks of statuses.
#pragma once

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <string>

#include "core/files.h"
#include "include/touchstone/touchstone.hpp"
#include "model/testing.h"

namespace touchstone::api {

// Returns the bytes of the model's file.
inline std::string bytes_of_model(const Model& model) {
  const auto file = std::filesystem::path(::testing::TempDir()) /
                    ("touchstone_api_" + std::to_string(getpid()) + ".onnx");
  save_model(model, file);
  std::ifstream in(file, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  std::filesystem::remove(file);
  return bytes;
}

inline ts::Session session_of(const Model& model, const ts::Options& options = {}) {
  const std::string bytes = bytes_of_model(model);
  return ts::Session(std::as_bytes(std::span(bytes)), options);
}

inline std::vector<Dim> dims(std::initializer_list<Dim> list) { return list; }

// x [n, 3] plus y [n, 3] is sum.
inline Model addition() {
  using namespace touchstone::testing;
  const auto port = [](const char* name) {
    return value(name, tensor_type(Type::float32), dims({{{}, "n"}, {3, ""}}));
  };
  Model made =
      model(graph({node("Add", {"x", "y"}, {"sum"})}, {port("x"), port("y")}, {floats("sum")}));
  Metadata about;
  about.doc_string = "adds";
  about.properties = {{"labels", "a,b"}};
  made.metadata = std::make_shared<const Metadata>(about);
  return made;
}

// A loop of `trips` iterations that doubles its state.
inline Model long_loop(Index trips) {
  using namespace touchstone::testing;
  Graph body = graph({node("Identity", {"on"}, {"go"}), node("Mul", {"s", "half"}, {"next"})},
                     {value("k", tensor_type(Type::int64), dims({})),
                      value("on", tensor_type(Type::boolean), dims({})), floats("s")},
                     {value("go", tensor_type(Type::boolean), dims({})), floats("next")});
  Model made = model(
      graph({node("Loop", {"trips", "", "x"}, {"y"}, {{"body", graph_attribute(std::move(body))}})},
            {floats("x")}, {floats("y")}));
  Tensor count(Type::int64, {});
  count.data<Index>()[0] = trips;
  made.graph.initializers.emplace("trips", count);
  made.graph.initializers.emplace("half", tensor({0.5F}));
  return made;
}

// y = Abs(Scale(Neg(x)) + x), x float of [n, 2].
inline Model scaled(std::map<std::string, Attribute> attributes = {}, Type type = Type::float32) {
  using namespace touchstone::testing;
  Node scale = node("Scale", {"a"}, {"b"}, std::move(attributes));
  scale.domain = "my.ops";
  scale.name = "mine";
  Model made = model(graph(
      {node("Neg", {"x"}, {"a"}), scale, node("Add", {"b", "x"}, {"c"}), node("Abs", {"c"}, {"y"})},
      {value("x", tensor_type(type), dims({{{}, "n"}, {2, ""}}))},
      {value("y", tensor_type(type), std::nullopt)}));
  made.opsets["my.ops"] = 1;
  return made;
}

// Releases the status and returns its kind.
inline ts_error kind_of(ts_status* status) {
  const ts_error kind = ts::api().status_kind(status);
  ts::api().status_release(status);
  return kind;
}

}  // namespace touchstone::api
