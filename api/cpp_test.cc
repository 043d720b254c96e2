// Tests operators, threads and messages of a program through the C++ interface.
#include <atomic>
#include <set>

#include "api/program_testing.h"

namespace touchstone::api {
namespace {

using ::testing::ElementsAre, ::testing::HasSubstr;

std::vector<float> elements(const ts::Value& value) {
  return {value.span<float>().begin(), value.span<float>().end()};
}

// my.ops Scale of one input and one output.
ts::Operator scale() {
  ts::Operator made;
  made.domain = "my.ops";
  made.name = "Scale";
  made.inputs = {{.name = "x", .types = "tensor(float)", .same = "T"}};
  made.outputs = {{.name = "y", .types = "tensor(float)", .same = "T"}};
  made.compute = [](const ts::Node& node, std::span<const ts::Value> inputs) {
    const float by = node.real("by").value_or(3);
    ts::Value y = ts::Value::zeros(TS_TYPE_FLOAT, inputs[0].dims());
    std::ranges::transform(inputs[0].span<float>(), y.mutable_span<float>().begin(),
                           [by](float x) { return by * x; });
    return std::vector{y};
  };
  return made;
}

// Runs |Scale(-x) + x|.
std::vector<float> run(const ts::Operator& added, std::map<std::string, Attribute> attributes = {},
                       const ts::Options& options = {}) {
  const std::string bytes = bytes_of_model(scaled(std::move(attributes)));
  const ts::Session session(std::as_bytes(std::span(bytes)), options, {added});
  return elements(session.run({{"x", four()}}).at("y"));
}

std::string failure(const ts::Operator& added, std::map<std::string, Attribute> attributes = {}) {
  try {
    run(added, std::move(attributes));
  } catch (const ts::Error& error) {
    return error.what();
  }
  return "";
}

TEST(CppOperators, ComputeWithTheirAttributes) {
  for (const char* runtime : {"fast", "reference"}) {
    EXPECT_THAT(run(scale(), {}, {{"runtime", runtime}}), ElementsAre(2, 4, 6, 8));
    EXPECT_THAT(run(scale(), {{"by", {2.0F, "", {}}}}), ElementsAre(1, 2, 3, 4));
  }
}

TEST(CppOperators, InferShapes) {
  ts::Operator added = scale();
  std::atomic<int> calls{0};
  added.infer = [&](const ts::Node& node, std::span<const ts::Port> inputs) {
    EXPECT_EQ(node.name(), "mine");
    EXPECT_EQ(inputs[0].type, "tensor(float)");
    ++calls;
    return std::vector<ts::OutputInfo>{{.type = "tensor(float)", .dims = inputs[0].dims}};
  };
  EXPECT_THAT(run(added), ElementsAre(2, 4, 6, 8));
  EXPECT_GT(calls, 0);
}

TEST(CppOperators, AnOutputMayBeAnInputOrKeptByTheProgram) {
  ts::Operator added = scale();
  added.compute = [](const ts::Node&, std::span<const ts::Value> inputs) {
    return std::vector(inputs.begin(), inputs.end());
  };
  EXPECT_THAT(run(added), ElementsAre(0, 0, 0, 0));
  const ts::Value kept = ts::Value::copy<float>({2, 2}, {5, 6, 7, 8});
  added.compute = [&](const ts::Node&, std::span<const ts::Value>) { return std::vector{kept}; };
  for (int k = 0; k < 2; ++k) EXPECT_THAT(run(added), ElementsAre(6, 8, 10, 4));
  EXPECT_THAT(elements(kept), ElementsAre(5, 6, 7, 8));
}

TEST(CppOperators, WhatTheyThrowIsTheErrorOfTheRun) {
  ts::Operator added = scale();
  added.compute = [](auto&&...) -> std::vector<ts::Value> {
    throw ts::Error(TS_ERROR_LIMIT, "no more today", "{}");
  };
  EXPECT_EQ(failure(added), "no more today");
  added.compute = [](auto&&...) -> std::vector<ts::Value> { throw std::runtime_error("broken"); };
  EXPECT_EQ(failure(added), "broken");
  added.compute = [](auto&&...) -> std::vector<ts::Value> { throw 7; };
  EXPECT_THAT(failure(added), HasSubstr("no exception"));
  added.compute = [](const ts::Node&, std::span<const ts::Value> inputs) {
    return std::vector{inputs[0], inputs[0]};
  };
  EXPECT_THAT(failure(added), HasSubstr("has 1 outputs, and 2 were computed"));
  added.compute = [](auto&&...) { return std::vector<ts::Value>(); };
  EXPECT_THAT(failure(added), HasSubstr("left out output 0"));
  added.compute = nullptr;
  EXPECT_THAT(failure(added), HasSubstr("Scale has no function"));
  EXPECT_THAT(failure(scale(), {{"by", {Index{2}, "", {}}}}), HasSubstr("'by' is of another kind"));
}

TEST(CppOperators, ReadAttributesOfEveryKind) {
  ts::Operator added = scale();
  added.compute = [](const ts::Node& node, std::span<const ts::Value> inputs) {
    EXPECT_EQ(node.integer("number"), 7);
    EXPECT_EQ(node.real("real"), 0.5F);
    EXPECT_EQ(node.string("word"), "abc");
    EXPECT_THAT(node.integers("numbers").value(), ElementsAre(1, 2));
    EXPECT_THAT(node.reals("reals").value(), ElementsAre(3, 4));
    EXPECT_THAT(node.strings("words").value(), ElementsAre("a", ""));
    EXPECT_THAT(elements(node.tensor("tensor").value()), ElementsAre(9));
    EXPECT_FALSE(node.integer("none") || node.tensor("none") || node.strings("none"));
    return std::vector(inputs.begin(), inputs.end());
  };
  EXPECT_EQ(failure(added, {{"number", {Index{7}, "", {}}},
                            {"real", {0.5F, "", {}}},
                            {"word", {std::string("abc"), "", {}}},
                            {"numbers", {std::vector<Index>{1, 2}, "", {}}},
                            {"reals", {std::vector<float>{3, 4}, "", {}}},
                            {"words", {std::vector<std::string>{"a", ""}, "", {}}},
                            {"tensor", {testing::tensor({9.0F}), "", {}}}}),
            "");
}

TEST(CppProgram, ThreadsOfTheProgramRunTheWork) {
  std::atomic<int> tasks{0};
  const ts::Executor executor = [&](std::size_t count,
                                    const std::function<void(std::size_t)>& task) {
    for (std::size_t k = 0; k < count; ++k, ++tasks) task(k);
  };
  const std::string bytes = bytes_of_model(addition());
  const ts::Session session(std::as_bytes(std::span(bytes)), {{"threads", "2"}}, {}, &executor);
  const std::int64_t rows = 1'000'000;
  const std::vector<float> ones(static_cast<std::size_t>(rows) * 3, 1);
  const ts::Value x = ts::Value::copy<float>({rows, 3}, ones);
  EXPECT_EQ(session.run({{"x", x}, {"y", x}}).at("sum").span<float>().back(), 2);
  EXPECT_GE(tasks, 2);
}

TEST(CppProgram, ReceivesMessages) {
  std::mutex mutex;
  std::set<std::string> categories;
  ts::log_to(
      [&](ts_severity, const std::string& category, const std::string& message) {
        const std::lock_guard lock(mutex);
        if (message.find("Scale") != std::string::npos) categories.insert(category);
      },
      TS_SEVERITY_INFO);
  run(scale());
  ts::log_to({});
  run(scale());
  EXPECT_THAT(categories, ElementsAre("session"));
}

TEST(CppValues, RoundTripThroughDlpack) {
  const ts::Value x = ts::Value::copy<float>({2}, {1, 2});
  const ts::Value y = ts::Value::from_dlpack(x.to_dlpack());
  EXPECT_THAT(elements(y), ElementsAre(1, 2));
}

}  // namespace
}  // namespace touchstone::api
