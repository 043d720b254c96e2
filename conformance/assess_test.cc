// Tests assessments of outputs: right, wrong in value, shape or type, missing; and of answers
// without outputs.
#include "conformance/assess.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "core/files.h"
#include "model/model.h"

namespace touchstone::conformance {
namespace {

namespace fs = std::filesystem;
const ValueType integers{ValueType::Kind::tensor, Type::int64, nullptr};

Tensor numbers(std::vector<Index> values) {
  Tensor tensor(Type::int64, {static_cast<Index>(values.size())});
  std::copy(values.begin(), values.end(), tensor.data<Index>());
  return tensor;
}

Node node(std::string op, std::vector<std::string> inputs, std::string output) {
  Node made;
  made.op = std::move(op);
  made.inputs = std::move(inputs);
  made.outputs = {std::move(output)};
  return made;
}

// A case on disk: inputs a and b, output y.
class CaseFolder : public testing::Test {
 protected:
  CaseFolder() {
    std::string name = (fs::temp_directory_path() / "assess_test-XXXXXX").string();
    folder = mkdtemp(name.data());
    assignment.model = folder / "model.onnx";
    assignment.inputs = {put("input_0.pb", numbers({1000, 1})),
                         put("input_1.pb", numbers({1000, 2}))};
    assignment.expected = {put("output_0.pb", numbers({2000, 3}))};
    save({node("Add", {"a", "b"}, "y")});
  }
  ~CaseFolder() override { fs::remove_all(folder); }

  fs::path put(const std::string& file, const Value& value) {
    write_atomically(folder / file, serialize_value(value));
    return folder / file;
  }
  void save(std::vector<Node> nodes) {
    Model model;
    model.ir_version = 10;
    model.opsets = {{"", 21}};
    model.graph.name = "case";
    model.graph.nodes = std::move(nodes);
    model.graph.inputs = {{"a", integers, {}}, {"b", integers, {}}};
    model.graph.outputs = {{"y", integers, {}}};
    fs::remove(assignment.model);
    save_model(model, assignment.model);
  }
  Assessment given(const Value& value) {
    return given({{"y", text(value.type()), serialize_value(value)}});
  }
  Assessment given(std::vector<targets::Output> outputs) {
    assignment.answer.kind = targets::Answer::Kind::outputs;
    assignment.answer.outputs = std::move(outputs);
    return assess(assignment);
  }

  fs::path folder;
  Assignment assignment;
};

TEST_F(CaseFolder, RightIsExact) {
  const Assessment found = given(numbers({2000, 3}));
  EXPECT_EQ(found.compat, "pass");
  EXPECT_EQ(found.verdict, "exact") << found.detail;
}

TEST_F(CaseFolder, WithinTheSuitesToleranceMayStillBeWrong) {
  const Assessment found = given(numbers({2001, 3}));
  EXPECT_EQ(found.compat, "pass");
  EXPECT_EQ(found.verdict, "wrong-value") << found.detail;
  EXPECT_THAT(found.detail, ::testing::HasSubstr("2001")) << found.detail;
}

TEST_F(CaseFolder, AWrongExpectationIsNamed) {
  put("output_0.pb", numbers({7, 7}));
  const Assessment found = given(numbers({2000, 3}));
  EXPECT_EQ(found.compat, "wrong-value");
  EXPECT_EQ(found.verdict, "exact");
  EXPECT_EQ(found.detail, "the suite's own expectation is wrong-value");
}

TEST_F(CaseFolder, AnExpectationIsJudgedWithoutAnyRun) {
  assignment.answer.kind = targets::Answer::Kind::expected;
  EXPECT_EQ(assess(assignment).verdict, "exact");
  put("output_0.pb", numbers({7, 3}));
  const Assessment wrong = assess(assignment);
  EXPECT_EQ(wrong.compat, "pass");
  EXPECT_EQ(wrong.verdict, "wrong-value");
  put("output_0.pb", numbers({2000, 3, 4}));
  EXPECT_EQ(assess(assignment).verdict, "wrong-shape");
  Assignment came;
  ASSERT_TRUE(read(ask(assignment), came));
  EXPECT_EQ(came.answer.kind, targets::Answer::Kind::expected);
}

TEST_F(CaseFolder, WhatTheStandardRefusesCannotBeExpected) {
  assignment.answer.kind = targets::Answer::Kind::expected;
  put("input_1.pb", Tensor(Type::int32, {2}));
  const Assessment other = assess(assignment);
  EXPECT_EQ(other.verdict, "accepted-invalid");
  EXPECT_THAT(other.detail, ::testing::HasSubstr("declared as tensor(int64)")) << other.detail;
  put("input_1.pb", numbers({1, 2, 3}));
  EXPECT_EQ(assess(assignment).verdict, "accepted-invalid");
  save({node("Add", {"a"}, "y")});
  EXPECT_EQ(assess(assignment).verdict, "accepted-invalid");
}

TEST_F(CaseFolder, ShapeAndTypeAreHeld) {
  EXPECT_EQ(given(numbers({2000, 3, 4})).verdict, "wrong-shape");
  EXPECT_EQ(given(numbers({2000, 3, 4})).compat, "wrong-shape");
  EXPECT_EQ(given(Tensor(Type::int32, {2})).verdict, "wrong-type");
  EXPECT_EQ(given(Tensor(Type::int32, {2})).compat, "wrong-type");
}

TEST_F(CaseFolder, TooFewOutputsAreUnwritten) {
  const Assessment found = given(std::vector<targets::Output>{});
  EXPECT_EQ(found.compat, "error");
  EXPECT_EQ(found.verdict, "unwritten");
}

TEST_F(CaseFolder, WhatIsNoValueIsTheTargetsFault) {
  EXPECT_EQ(given({{"y", "python dict", ""}}).verdict, "wrong-type");
  EXPECT_EQ(given({{"y", "tensor(int64)", "no message at all"}}).verdict, "crash");
}

TEST_F(CaseFolder, AFaultWithRightOutputsIsTheVerdict) {
  given(numbers({2000, 3}));
  assignment.answer.detail = "why";
  assignment.answer.kind = targets::Answer::Kind::wrote_input;
  EXPECT_EQ(assess(assignment).verdict, "wrote-input");
  assignment.answer.kind = targets::Answer::Kind::differed;
  const Assessment found = assess(assignment);
  EXPECT_EQ(found.verdict, "nondeterministic");
  EXPECT_EQ(found.compat, "pass");
  EXPECT_EQ(found.detail, "why");
}

TEST_F(CaseFolder, AnInvalidCaseIsAcceptedHoweverOutputsDiffer) {
  assignment.inputs[1] = put("input_1.pb", numbers({1, 2, 3}));
  assignment.refused = "Add-14/C1";
  given(numbers({2000, 3}));
  assignment.answer.kind = targets::Answer::Kind::differed;
  EXPECT_EQ(assess(assignment).verdict, "accepted-invalid");
}

TEST_F(CaseFolder, ADrawMayDiffer) {
  assignment.inputs.clear();
  Node draw = node("Bernoulli", {"a"}, "y");
  Tensor halves(Type::float32, {1}), one(Type::float32, {1});
  halves.data<float>()[0] = 0.5F, one.data<float>()[0] = 1;
  save({draw});
  Model model = load_model(assignment.model, Limits::trusted());
  model.graph.inputs = {{"a", ValueType{ValueType::Kind::tensor, Type::float32, nullptr}, {}}};
  model.graph.outputs = model.graph.inputs;
  model.graph.outputs[0].name = "y";
  fs::remove(assignment.model);
  save_model(model, assignment.model);
  assignment.inputs = {put("input_0.pb", halves)};
  put("output_0.pb", one);
  EXPECT_EQ(given(halves).verdict, "wrong-value");  // a probability of one half is deterministic
  EXPECT_EQ(given(one).verdict, "open");
  assignment.answer.kind = targets::Answer::Kind::differed;
  EXPECT_EQ(assess(assignment).verdict, "open");
  EXPECT_EQ(given(Tensor(Type::float32, {2})).verdict, "wrong-shape");  // no draw affects the shape
  model.graph.nodes.push_back(node("Identity", {"y"}, "z"));
  model.graph.outputs[0].name = "z";
  fs::remove(assignment.model);
  save_model(model, assignment.model);
  const Assessment several =
      given({{"z", "tensor(float)", serialize_value(Tensor(Type::float32, {1}))}});
  EXPECT_EQ(several.compat, "wrong-value");
  EXPECT_EQ(several.verdict, "open");
}

TEST_F(CaseFolder, ACaseSaysWhatItIsAboutAndShowsValues) {
  const Assessment found = given(numbers({2000, 4}));
  EXPECT_EQ(found.subject.op, "Add");
  EXPECT_EQ(found.subject.since, 14);
  ASSERT_EQ(found.values.size(), 2u);
  EXPECT_EQ(found.values[0].place, "y [1]");  // differing elements come first
  EXPECT_EQ(found.values[0].expected, "3 (0x0000000000000003)");
  EXPECT_EQ(found.values[0].actual, "4 (0x0000000000000004)");
  assignment.answer = {};
  assignment.answer.detail = "signal 11";
  EXPECT_EQ(assess(assignment).verdict, "crash");
  EXPECT_EQ(assess(assignment).subject.op, "Add");
}

TEST_F(CaseFolder, WhatWasDoneToTheModelIsSaid) {
  given(numbers({2000, 3}));
  assignment.answer.note = "opset 27 stamped down to 26";
  EXPECT_EQ(assess(assignment).detail, "opset 27 stamped down to 26");
}

// c = a + b, y = c + b, so 2000 and 5 are right.
class SeveralNodes : public CaseFolder {
 protected:
  SeveralNodes() {
    save({node("Add", {"a", "b"}, "c"), node("Add", {"c", "b"}, "y")});
    put("output_0.pb", numbers({3000, 5}));
    assignment.tapped_model = folder / "tapped.onnx";
  }
  static targets::Output output(const std::string& name, const Value& value) {
    return {name, text(value.type()), serialize_value(value)};
  }
  // The first run gave y; the one with taps also c.
  Assessment given(const Value& y, const Value& c) {
    assignment.answer.kind = targets::Answer::Kind::outputs;
    assignment.answer.outputs = {output("y", y)};
    assignment.taps = assignment.answer;
    assignment.taps->outputs.push_back(output("c", c));
    return assess(assignment);
  }
};

TEST_F(SeveralNodes, AreShownToTheTargetFirst) {
  EXPECT_TRUE(CaseFolder::given(numbers({3000, 5})).tapped);
  const Model tapped = load_model(assignment.tapped_model, Limits::trusted());
  ASSERT_EQ(tapped.graph.outputs.size(), 2u);
  EXPECT_EQ(tapped.graph.outputs[1].name, "c");
}

TEST_F(SeveralNodes, AreAsRightAsEachOfThem) {
  const Assessment found = given(numbers({3000, 5}), numbers({2000, 3}));
  EXPECT_EQ(found.verdict, "exact");
  EXPECT_EQ(found.detail, "2 nodes: 2 exact");
}

TEST_F(SeveralNodes, AWrongExpectationIsNotTheirFault) {
  put("output_0.pb", numbers({7, 7}));
  const Assessment found = given(numbers({3000, 5}), numbers({2000, 3}));
  EXPECT_EQ(found.compat, "wrong-value");
  EXPECT_EQ(found.verdict, "exact") << found.detail;
}

TEST_F(SeveralNodes, TheGuiltyOneIsNamed) {
  const Assessment found = given(numbers({3001, 6}), numbers({2001, 4}));
  EXPECT_EQ(found.verdict, "wrong-value");
  EXPECT_THAT(found.detail, ::testing::HasSubstr("node 0 (Add-14): output 'c'")) << found.detail;
  EXPECT_THAT(found.detail, ::testing::HasSubstr("1 exact, 1 wrong-value")) << found.detail;
}

TEST_F(SeveralNodes, WithTapsMustGiveTheSame) {
  given(numbers({3000, 5}), numbers({2000, 3}));
  assignment.taps->outputs[0] = output("y", numbers({3000, 6}));
  const Assessment found = assess(assignment);
  EXPECT_EQ(found.verdict, "open");
  EXPECT_THAT(found.detail, ::testing::HasSubstr("its outputs are others")) << found.detail;
  assignment.taps =
      targets::Answer{.kind = targets::Answer::Kind::refused, .detail = "too many outputs"};
  EXPECT_THAT(assess(assignment).detail, ::testing::HasSubstr("too many outputs"));
  put("output_0.pb", numbers({7, 7}));
  EXPECT_EQ(assess(assignment).verdict, "wrong-value");
}

TEST_F(SeveralNodes, AValueThatIsNotShownIsItsNodesFault) {
  given(numbers({3000, 5}), numbers({2000, 3}));
  assignment.taps->outputs.pop_back();
  EXPECT_EQ(assess(assignment).verdict, "unwritten");
}

TEST_F(SeveralNodes, ThatCannotAllBeJudgedAreLeftToTheSuite) {
  save({node("Identity", {"a"}, "p"), node("Bernoulli", {"p"}, "y")});
  Model model = load_model(assignment.model, Limits::trusted());
  model.graph.inputs = {{"a", tensor_type(Type::float32), {}}};
  model.graph.outputs = {{"y", tensor_type(Type::float32), {}}};
  fs::remove(assignment.model);
  save_model(model, assignment.model);
  Tensor half(Type::float32, {1}), drawn(Type::float32, {1});
  half.data<float>()[0] = 0.5F, drawn.data<float>()[0] = 1;
  assignment.inputs = {put("input_0.pb", half)};
  put("output_0.pb", drawn);
  assignment.answer.kind = targets::Answer::Kind::outputs;
  assignment.answer.outputs = {output("y", drawn)};
  assignment.taps = assignment.answer;
  assignment.taps->outputs.push_back(output("p", half));
  const Assessment found = assess(assignment);
  EXPECT_EQ(found.verdict, "open") << found.detail;
  EXPECT_EQ(found.compat, "pass");
}

TEST_F(SeveralNodes, WithoutAPlaceForTheirModelAreLeftToTheSuite) {
  assignment.tapped_model.clear();
  const Assessment right = CaseFolder::given(numbers({3000, 5}));
  EXPECT_FALSE(right.tapped);
  EXPECT_EQ(right.verdict, "open");
  EXPECT_THAT(right.detail, ::testing::HasSubstr("2 nodes"));
  EXPECT_EQ(CaseFolder::given(numbers({4000, 5})).verdict, "wrong-value");
}

TEST_F(CaseFolder, UnreadableDataAreOurFault) {
  write_atomically(folder / "output_0.pb", "no protobuf at all");
  EXPECT_EQ(given(numbers({2000, 3})).verdict, "harness");
}

TEST_F(CaseFolder, AssignmentsAndAssessmentsTravel) {
  assignment.rtol = 0.1;
  assignment.answer.kind = targets::Answer::Kind::wrote_input;
  assignment.answer.outputs = {{"y", "tensor(int64)", "bytes"}};
  assignment.tapped_model = "tapped.onnx";
  assignment.taps = targets::Answer{.kind = targets::Answer::Kind::refused, .detail = "no"};
  Assignment came;
  ASSERT_TRUE(read(ask(assignment), came));
  EXPECT_EQ(came.model, assignment.model);
  EXPECT_EQ(came.inputs, assignment.inputs);
  EXPECT_EQ(came.expected, assignment.expected);
  EXPECT_EQ(came.rtol, 0.1);
  EXPECT_EQ(came.answer.kind, targets::Answer::Kind::wrote_input);
  EXPECT_EQ(came.answer.outputs[0].bytes, "bytes");
  EXPECT_EQ(came.tapped_model, "tapped.onnx");
  ASSERT_TRUE(came.taps);
  EXPECT_EQ(came.taps->detail, "no");
  Assessment sent{"pass", "within", "why", 0.3, JudgedNode{"Frob-7", "form", "float", 3, 1, 0.5}},
      back;
  sent.subject = {"Frob", 7};
  sent.values = {{"y [0]", "1", "2"}};
  ASSERT_TRUE(read(tell(sent), back));
  EXPECT_EQ(back.verdict, "within");
  EXPECT_EQ(back.utilisation, 0.3);
  EXPECT_EQ(back.subject.op, "Frob");
  ASSERT_TRUE(back.judged);
  EXPECT_EQ(back.judged->node, "Frob-7");
  EXPECT_EQ(back.judged->resolution, 0.5);
  EXPECT_EQ(back.subject.since, 7);
  EXPECT_EQ(back.values.at(0).actual, "2");
  EXPECT_FALSE(read(targets::Message("no assignment"), came));
}

targets::Answer refusal(ErrorKind kind, targets::Phase phase = targets::Phase::run) {
  targets::Answer answer;
  answer.kind = targets::Answer::Kind::refused;
  answer.error = kind;
  answer.phase = phase;
  return answer;
}

TEST(Failure, EachKindOfRefusalHasItsVerdict) {
  EXPECT_EQ(assess_failure(refusal(ErrorKind::unsupported)).verdict, "unsupported");
  EXPECT_EQ(assess_failure(refusal(ErrorKind::unsupported, targets::Phase::feed)).verdict,
            "unsupported");
  EXPECT_EQ(assess_failure(refusal(ErrorKind::invalid_model, targets::Phase::load)).verdict,
            "rejected-valid");
  EXPECT_EQ(assess_failure(refusal(ErrorKind::invalid_input)).compat, "rejected-valid");
  EXPECT_EQ(assess_failure(refusal(ErrorKind::out_of_memory)).verdict, "out-of-memory");
  EXPECT_EQ(assess_failure(refusal(ErrorKind::internal)).verdict, "crash");
  EXPECT_EQ(assess_failure(refusal(ErrorKind::invalid_model, targets::Phase::feed)).verdict,
            "harness");
  EXPECT_EQ(assess_failure(refusal(ErrorKind::file, targets::Phase::load)).verdict, "harness");
}

TEST(Failure, TheWorstDataSetSpeaksForTheCase) {
  const Assessment right{"pass", "exact", "", {}}, open{"pass", "open", "2 nodes", {}};
  const Assessment wrong{"wrong-value", "wrong-value", "y", 3.0}, within{"pass", "within", "", 0.5};
  EXPECT_EQ(worse(right, open).verdict, "open");
  EXPECT_EQ(worse(wrong, within).verdict, "wrong-value");
  EXPECT_EQ(worse(within, wrong).compat, "wrong-value");
  EXPECT_EQ(worse(within, wrong).utilisation, 3.0);
  EXPECT_EQ(worse(within, right).utilisation, 0.5);
}

}  // namespace
}  // namespace touchstone::conformance
