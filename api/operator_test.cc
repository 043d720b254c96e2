// Tests operators whose functions are the program's: types, shapes, attributes, errors, lifetimes.
#include "api/program_testing.h"

namespace touchstone::api {
namespace {

using ::testing::ElementsAre, ::testing::HasSubstr, ::testing::IsEmpty;

TEST(Operators, OneRunsOnBothRuntimes) {
  for (const char* runtime : {"fast", "reference"}) {
    for (const bool infers : {false, true}) {
      Functions functions;
      functions.compute = tripled;
      int shapes = 0;
      if (infers) {
        functions.infer = [&](ts_node* node, const ts_port* inputs) {
          EXPECT_STREQ(inputs[0].type, "tensor(float)");
          shapes += inputs[0].rank == 2 && inputs[0].dims[1] == 2 ? 1 : 0;
          return ts::api().node_set_output(node, 0, "tensor(float)", inputs[0].rank,
                                           inputs[0].dims);
        };
      }
      {
        const Given given(functions, "tensor(float), tensor(double)", {{"runtime", runtime}});
        Opened session(scaled(), given);
        ASSERT_EQ(session.message(), "");
        EXPECT_THAT(session.run(four()), ElementsAre(2, 4, 6, 8));
        EXPECT_THAT(session.run(ts::Value::copy<float>({1, 2}, {5, 0})), ElementsAre(10, 0));
        EXPECT_EQ(functions.calls, 2) << "a node is computed beside its runs";
        EXPECT_EQ(functions.released, 0);
      }
      EXPECT_EQ(functions.released, 1);
      EXPECT_EQ(shapes > 0, infers && runtime == std::string("fast"))
          << "the reference plans nothing";
    }
  }
}

TEST(Operators, AnOutputMayBeTheInput) {
  Functions functions;
  functions.compute = [](const ts_node*, const ts_value* const* inputs, std::size_t,
                         ts_value** outputs) {
    outputs[0] = const_cast<ts_value*>(inputs[0]);
    return nullptr;
  };
  const Given given(functions);
  Opened session(scaled(), given);
  for (int k = 0; k < 3; ++k) EXPECT_THAT(session.run(four()), ElementsAre(0, 0, 0, 0));
}

TEST(Operators, AShapeThatWasInferredWronglyIsFoundOut) {
  Functions functions;
  functions.compute = tripled;
  functions.infer = [](ts_node* node, const ts_port*) {
    const std::int64_t wrong[] = {7, 2};
    return ts::api().node_set_output(node, 0, nullptr, 2, wrong);
  };
  const Given given(functions);
  Opened session(scaled(), given);
  const std::vector<float> y = session.run(four());
  if (session.status == nullptr) {
    EXPECT_THAT(y, ElementsAre(2, 4, 6, 8));
  }
}

TEST(Operators, TypesThatDoNotMatchAreRefusedByName) {
  Functions functions;
  functions.compute = tripled;
  const Given given(functions);
  const Opened doubles(scaled({}, Type::float64), given);
  EXPECT_EQ(doubles.kind(), TS_ERROR_INVALID_MODEL);
  EXPECT_THAT(ts::api().status_json(doubles.status), HasSubstr("'mine' (my.ops.Scale)"));
  EXPECT_THAT(doubles.message(), HasSubstr("tensor(double), but may be tensor(float)"));
  functions.compute = [](const ts_node*, const ts_value* const*, std::size_t, ts_value** outputs) {
    return ts::api().tensor_create(TS_TYPE_INT32, nullptr, 0, outputs);
  };
  Opened ints(scaled(), given);
  EXPECT_THAT(ints.run(four()), IsEmpty());
  EXPECT_THAT(ints.message(), HasSubstr("tensor(int32), but may be tensor(float)"));
  Model later = scaled();
  later.opsets["my.ops"] = 0;
  EXPECT_NE(Opened(later, given).status, nullptr);
  later.opsets["my.ops"] = 5;
  EXPECT_EQ(Opened(later, given).message(), "");
}

TEST(Operators, ErrorsOfItsFunctionsAreStatuses) {
  Functions functions;
  const Given given(functions);
  Opened session(scaled(), given);
  functions.compute = [](auto...) { return refused(TS_ERROR_LIMIT, "no more today"); };
  EXPECT_THAT(session.run(four()), IsEmpty());
  EXPECT_EQ(session.kind(), TS_ERROR_LIMIT);
  EXPECT_EQ(session.message(), "no more today");
  EXPECT_THAT(ts::api().status_json(session.status), HasSubstr("'mine' (my.ops.Scale)"));
  functions.compute = [](auto...) -> ts_status* { return nullptr; };
  session.run(four());
  EXPECT_THAT(session.message(), HasSubstr("left out output 0"));
  functions.compute = [](auto...) { return reinterpret_cast<ts_status*>(std::uintptr_t{3}); };
  session.run(four());
  EXPECT_EQ(session.kind(), TS_ERROR_USAGE);
  functions.compute = [](const ts_node*, const ts_value* const*, std::size_t, ts_value** outputs) {
    outputs[0] = reinterpret_cast<ts_value*>(std::uintptr_t{3});
    return static_cast<ts_status*>(nullptr);
  };
  session.run(four());
  EXPECT_EQ(session.kind(), TS_ERROR_USAGE);
  functions.compute = tripled;
  EXPECT_THAT(session.run(four()), ElementsAre(2, 4, 6, 8)) << "a session ends with an error";

  Functions unsure;
  unsure.infer = [](auto...) { return refused(TS_ERROR_INVALID_MODEL, "not with two columns"); };
  unsure.compute = tripled;
  const Given other(unsure);
  Opened inferred(scaled(), other);
  EXPECT_THAT(inferred.run(four()), ElementsAre(2, 4, 6, 8));
}

TEST(Operators, AttributesAreRead) {
  Functions functions;
  std::string seen;
  const ts_node* kept = nullptr;
  functions.compute = [&](const ts_node* node, const ts_value* const* inputs, std::size_t count,
                          ts_value** outputs) {
    kept = node;
    const auto at = [&](const char* name) {
      ts_attribute made{};
      made.struct_size = sizeof made;
      ts::check(ts::api().node_attribute(node, name, &made));
      return made;
    };
    const char* name = nullptr;
    ts::check(ts::api().node_name(node, &name));
    seen = name;
    EXPECT_EQ(at("none").kind, TS_ATTRIBUTE_ABSENT);
    EXPECT_EQ(*at("real").floats, 0.5F);
    EXPECT_EQ(*at("number").ints, 7);
    EXPECT_STREQ(*at("word").strings, "abc");
    EXPECT_EQ(*at("word").lengths, 3U);
    EXPECT_EQ(at("numbers").count, 2U);
    EXPECT_EQ(at("numbers").ints[1], 2);
    EXPECT_EQ(at("words").kind, TS_ATTRIBUTE_STRINGS);
    EXPECT_STREQ(at("words").strings[1], "d");
    ts_tensor view{};
    view.struct_size = sizeof view;
    ts::check(ts::api().tensor_view(at("tensor").tensor, &view));
    EXPECT_EQ(view.count, 1U);
    EXPECT_EQ(
        kind_of(ts::api().node_set_output(const_cast<ts_node*>(node), 0, nullptr, -1, nullptr)),
        TS_ERROR_USAGE);
    return tripled(node, inputs, count, outputs);
  };
  const auto attribute = [](Attribute::Payload is) {
    Attribute made;
    made.is = std::move(is);
    return made;
  };
  const Given given(functions);
  Opened session(scaled({{"real", attribute(0.5F)},
                         {"number", attribute(Index{7})},
                         {"word", attribute(std::string("abc"))},
                         {"numbers", attribute(std::vector<Index>{1, 2})},
                         {"words", attribute(std::vector<std::string>{"c", "d"})},
                         {"tensor", attribute(touchstone::testing::tensor({1}))}}),
                 given);
  EXPECT_THAT(session.run(four()), ElementsAre(2, 4, 6, 8));
  EXPECT_EQ(seen, "mine");
  const char* name = nullptr;
  EXPECT_EQ(kind_of(ts::api().node_name(kept, &name)), TS_ERROR_USAGE)
      << "a node outlives its call";
}

TEST(Operators, OperatorsThatMakeNoSenseAreRefused) {
  Functions functions;
  const Given given(functions);
  const ts_parameter one = parameter("tensor(float)"), no_type = parameter("tensor(flot)");
  const ts_parameter floats = parameter("tensor(float)", "T"),
                     ints = parameter("tensor(int32)", "T");
  const auto kind = [&](const char* domain, const char* name, std::int32_t since,
                        const ts_parameter* in, const ts_parameter* out, ts_compute function) {
    const ts_operator added{sizeof added, domain, name,     since,   in,      1,
                            out,          1,      function, nullptr, nullptr, nullptr};
    return kind_of(ts::api().options_add_operator(given.get(), &added));
  };
  EXPECT_EQ(kind("my.ops", "Other", 1, &one, &one, compute), TS_ERROR_NONE);
  EXPECT_EQ(kind("my.ops", "Other", 1, &one, &one, compute), TS_ERROR_USAGE) << "twice";
  EXPECT_EQ(kind("my.ops", "Other", 2, &one, &one, compute), TS_ERROR_NONE);
  EXPECT_EQ(kind("", "Other", 1, &one, &one, compute), TS_ERROR_USAGE);
  EXPECT_EQ(kind("ai.onnx.ml", "Other", 1, &one, &one, compute), TS_ERROR_USAGE);
  EXPECT_EQ(kind("my.ops", "", 1, &one, &one, compute), TS_ERROR_USAGE);
  EXPECT_EQ(kind("my.ops", "A", 0, &one, &one, compute), TS_ERROR_USAGE);
  EXPECT_EQ(kind("my.ops", "A", 1, nullptr, &one, compute), TS_ERROR_USAGE);
  EXPECT_EQ(kind("my.ops", "A", 1, &no_type, &one, compute), TS_ERROR_USAGE);
  EXPECT_EQ(kind("my.ops", "A", 1, &floats, &ints, compute), TS_ERROR_USAGE);
  EXPECT_EQ(kind("my.ops", "A", 1, &one, &one, nullptr), TS_ERROR_USAGE);
  EXPECT_EQ(functions.released, 0);
}

}  // namespace
}  // namespace touchstone::api
