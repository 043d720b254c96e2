// The mutation driver detects crashes, deadlines, different ends and wrong outputs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "model/model.h"
#include "tests/mutation/verdict.h"

namespace touchstone::mutation {
namespace {

// y = -(-x): two Neg nodes in a row.
Subject negations() {
  Subject made;
  made.model.ir_version = 10;
  made.model.opsets[""] = 21;
  made.model.graph.name = "negations";
  const ValueInfo x{"x", tensor_type(Type::float32), std::vector<Dim>{{2, ""}, {3, ""}}};
  ValueInfo y = x;
  y.name = "y";
  made.model.graph.inputs = {x};
  made.model.graph.outputs = {y};
  for (const auto& [from, to] : {std::pair{"x", "v"}, {"v", "y"}}) {
    Node node;
    node.op = "Neg";
    node.index = static_cast<Index>(made.model.graph.nodes.size());
    node.inputs = {from};
    node.outputs = {to};
    made.model.graph.nodes.push_back(node);
  }
  Tensor fed(Type::float32, {2, 3});
  for (Index k = 0; k < fed.size(); ++k) fed.data<float>()[k] = static_cast<float>(k) - 2.5F;
  made.feeds.emplace("x", fed);
  return made;
}

std::string wrong(const Runtime& fast, Index number = 1) {
  Random random = twin_random(number);
  std::map<std::string, Index> counts;
  return wrong_about(negations(), random, counts, run_reference, fast);
}

TEST(Verdicts, NothingIsWrongAboutSoundRuntimes) {
  for (Index number = 0; number < 8; ++number) EXPECT_EQ(wrong(run_fast, number), "");
}

TEST(Verdicts, ARuntimeThatBelievesDeclaredShapesIsFound) {
  const Runtime believes = [](const Model& model, const std::map<std::string, Value>& feeds) {
    const auto& declared = model.graph.outputs.front().shape;
    if (declared && declared->size() != 2) throw Error(ErrorKind::limit, "too large");
    return run_reference(model, feeds);
  };
  std::string found;
  for (Index number = 0; number < 30 && found.empty(); ++number) found = wrong(believes, number);
  EXPECT_THAT(found, ::testing::HasSubstr("fast, with declared shapes: limit")) << found;
}

TEST(Verdicts, OutputsThatTheJudgeRefusesAreFound) {
  const Runtime doubles = [](const Model& model, const std::map<std::string, Value>& feeds) {
    std::map<std::string, Value> made = run_reference(model, feeds);
    const Tensor& y = made.at("y").tensor();
    Tensor other(Type::float32, y.shape());
    for (Index k = 0; k < y.size(); ++k) other.data<float>()[k] = 2 * y.data<float>()[k];
    made["y"] = other;
    return made;
  };
  const std::string found = wrong(doubles);
  EXPECT_THAT(found, ::testing::HasSubstr("fast: Neg: output 'y'")) << found;
}

TEST(Verdicts, AnInternalErrorIsWrongEvenWhereBothHaveIt) {
  const Runtime breaks = [](const Model&,
                            const std::map<std::string, Value>&) -> std::map<std::string, Value> {
    throw std::out_of_range("somewhere");
  };
  const std::string found = wrong(breaks);
  EXPECT_THAT(found, ::testing::HasSubstr("internal: an exception that is no Error: somewhere"))
      << found;
}

TEST(Verdicts, ARuntimeThatRefusesWhatTheReferenceRunsIsFound) {
  const Runtime refuses = [](const Model&,
                             const std::map<std::string, Value>&) -> std::map<std::string, Value> {
    throw Error(ErrorKind::unsupported, "not here");
  };
  const std::string found = wrong(refuses);
  EXPECT_THAT(found, ::testing::HasSubstr("fast: unsupported (: not here), but reference: ran"))
      << found;
}

TEST(Mutants, LiesChangeDeclaredShapesAlone) {
  const Model model = negations().model;
  Index declared = 0;
  for (Index number = 0; number < 20; ++number) {
    Random random(static_cast<std::uint64_t>(number));
    const Model twin = with_lies(model, random);
    ASSERT_EQ(twin.graph.values.size(), 1);
    EXPECT_EQ(twin.graph.values[0].name, "v");
    EXPECT_EQ(twin.graph.values[0].type, tensor_type(Type::float32));
    EXPECT_EQ(twin.graph.outputs[0].type, model.graph.outputs[0].type);
    EXPECT_EQ(twin.graph.nodes.size(), model.graph.nodes.size());
    declared += twin.graph.values[0].shape.has_value();
  }
  EXPECT_EQ(declared, 20);
  EXPECT_FALSE(without_shapes(model).graph.outputs[0].shape);
}

TEST(Mutants, ANumberMakesTheSameLineAgain) {
  const std::filesystem::path source = std::getenv("TOUCHSTONE_SOURCE");
  const LineSource lines(source / "conformance/suites/spec");
  std::set<std::string> seen;
  Index made = 0;
  for (Index number = 0; number < 50; ++number) {
    try {
      const std::string line = lines.make(number).what;
      EXPECT_EQ(lines.make(number).what, line);
      seen.insert(line);
      ++made;
    } catch (const Error&) {  // no mutant
    }
  }
  EXPECT_GT(made, 40);
  EXPECT_GT(static_cast<Index>(seen.size()), made - 5);
}

TEST(Mutants, LinesChangeInEveryPart) {
  const std::string line = "Gather-13(float[3,4]~real, int64[2]{0,1}) axis=1";
  std::set<std::string> seen;
  Random random(1);
  for (int k = 0; k < 3000; ++k) seen.insert(mutated(line, {line}, random));
  const auto any = [&](const std::string& part) {
    return std::any_of(seen.begin(), seen.end(), [&](const std::string& each) {
      return each.find(part) != std::string::npos;
    });
  };
  EXPECT_TRUE(any("axis=9223372036854775807"));
  EXPECT_TRUE(any("{0,-1}"));
  EXPECT_TRUE(any("~special"));
  EXPECT_TRUE(any("*float"));
  EXPECT_TRUE(any("float[3,18]"));
  EXPECT_TRUE(any("(_, int64"));
}

}  // namespace
}  // namespace touchstone::mutation
