// Tests local blame: taps are found in the model by their path and judged one by one; the first
// wrong node is guilty.
#include "conformance/blame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "conformance/taps.h"
#include "core/error.h"
#include "core/files.h"
#include "model/model.h"

namespace touchstone::conformance {
namespace {

namespace fs = std::filesystem;
const ValueType of_integers{ValueType::Kind::tensor, Type::int64, nullptr};

Node node(std::string op, std::vector<std::string> inputs, std::string output, Index index) {
  Node made;
  made.op = std::move(op);
  made.inputs = std::move(inputs);
  made.outputs = {std::move(output)};
  made.index = index;
  return made;
}

// y = (a + a) + b with b an initializer.
Model sums() {
  Model model;
  model.ir_version = 10;
  model.opsets = {{"", 21}};
  model.graph.inputs = {{"a", of_integers, {}}};
  model.graph.outputs = {{"y", of_integers, {}}};
  model.graph.initializers["b"] = Tensor(Type::int64, {1});
  model.graph.nodes = {node("Add", {"a", "a"}, "c", 0), node("Add", {"c", "b"}, "y", 1)};
  resolve(model);
  return model;
}

Value number(Index value) {
  Tensor tensor(Type::int64, {1});
  tensor.data<Index>()[0] = value;
  return tensor;
}

class Taps : public testing::Test {
 protected:
  Taps() {
    std::string name = (fs::temp_directory_path() / "blame_test-XXXXXX").string();
    folder = mkdtemp(name.data());
  }
  ~Taps() override { fs::remove_all(folder); }
  void put(const std::string& file, Index value) {
    write_atomically(folder / file, serialize_value(number(value)));
  }
  Blame blamed(const Model& model) {
    const LoadValue load = [](const fs::path& file, const ValueType& type) {
      return load_value(file, type, Limits::trusted());
    };
    return blame(read_taps(model, folder, load), {});
  }
  fs::path folder;
};

TEST_F(Taps, TheFirstWrongNodeIsGuiltyAndTheNextIsJudgedOnItsOwnInputs) {
  put("a.pb", 1);
  put("c.pb", 3);  // 1 + 1
  put("y.pb", 3);  // 3 + 0: right for its inputs
  write_atomically(folder / "values.json", R"({"a": "a.pb", "c": "c.pb", "y": "y.pb"})");
  const Model model = sums();
  const Blame found = blamed(model);
  ASSERT_EQ(found.nodes.size(), 2u);
  ASSERT_TRUE(found.guilty);
  EXPECT_EQ(*found.guilty, 0u);
  EXPECT_EQ(found.nodes[0].judgement.verdict, judge::Verdict::wrong_value);
  EXPECT_EQ(found.nodes[1].judgement.verdict, judge::Verdict::exact);
  EXPECT_EQ(found.verdict, judge::Verdict::wrong_value);
  EXPECT_EQ(found.judged, 2);
}

TEST_F(Taps, ABlameFoundBeforeStandsForItsNodeAlone) {
  put("a.pb", 1);
  put("c.pb", 3);  // 1 + 1
  put("y.pb", 3);
  write_atomically(folder / "values.json", R"({"a": "a.pb", "c": "c.pb", "y": "y.pb"})");
  const Model model = sums();
  const LoadValue load = [](const fs::path& file, const ValueType& type) {
    return load_value(file, type, Limits::trusted());
  };
  const std::vector<TappedNode> taps = read_taps(model, folder, load);
  NodeBlame before{"", taps[1].node, {}, {}};
  before.judgement.verdict = judge::Verdict::wrong_shape;
  const Blame found =
      blame(taps, {}, {}, [&](std::size_t k) { return k == 1 ? &before : nullptr; });
  EXPECT_EQ(found.nodes[0].judgement.verdict, judge::Verdict::wrong_value);
  EXPECT_EQ(found.nodes[1].judgement.verdict, judge::Verdict::wrong_shape);
  EXPECT_EQ(found.guilty, 0u);
}

TEST_F(Taps, AMissingValueIsSaidAndNotPassed) {
  put("a.pb", 1);
  put("y.pb", 3);
  write_atomically(folder / "values.json", R"({"a": "a.pb", "y": "y.pb"})");
  const Model model = sums();
  const Blame found = blamed(model);
  EXPECT_NE(found.nodes[0].skipped, "");
  EXPECT_NE(found.nodes[1].skipped, "");
  EXPECT_EQ(found.verdict, judge::Verdict::open);
  EXPECT_EQ(found.judged, 0);
}

TEST_F(Taps, TapsOfRunNameTheNode) {
  put("v1.pb", 1);
  put("v2.pb", 2);
  write_atomically(folder / "taps.json", R"({"nodes": [{"path": "", "index": 0,
      "inputs": [{"name": "a", "file": "v1.pb"}, {"name": "a", "file": "v1.pb"}],
      "outputs": [{"name": "c", "file": "v2.pb"}]}]})");
  const Model model = sums();
  const Blame found = blamed(model);
  ASSERT_EQ(found.nodes.size(), 1u);
  EXPECT_EQ(found.verdict, judge::Verdict::exact);
  write_atomically(folder / "taps.json",
                   R"({"nodes": [{"path": "If_7/then_branch", "index": 0}]})");
  EXPECT_THROW(blamed(model), Error);
}

TEST_F(Taps, AnIndexOfOtherKindsIsRefused) {
  for (const char* index :
       {R"({"nodes": 1})", R"({"nodes": [1]})", R"({"nodes": [{"path": 1, "index": 0}]})",
        R"({"nodes": [{"path": "", "index": "0"}]})", R"({"nodes": [{"path": "", "index": 0.5}]})",
        R"({"nodes": [{"path": "", "index": 0, "inputs": {"name": "a"}}]})",
        R"({"nodes": [{"path": "", "index": 0, "inputs": [7]}]})",
        R"({"nodes": [{"path": "", "index": 0, "outputs": [{"name": 7, "file": "v.pb"}]}]})",
        R"({"nodes": [{"path": "", "index": 0, "outputs": [{"name": "c", "file": 7}]}]})"}) {
    write_atomically(folder / "taps.json", index);
    try {
      blamed(sums());
      ADD_FAILURE() << index;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind, ErrorKind::file) << index;
    }
  }
}

TEST_F(Taps, ValuesAreReadFromTheFolderAlone) {
  const fs::path outside = folder.string() + "-beside.pb";
  write_atomically(outside, serialize_value(number(1)));
  put("c.pb", 2);
  const std::string up = "../" + outside.filename().string();
  for (const std::string& name : {up, outside.string(), "./" + up}) {
    write_atomically(folder / "values.json", R"({"a": ")" + name + R"(", "c": "c.pb"})");
    const Model model = sums();
    const Blame found = blamed(model);
    EXPECT_THAT(found.nodes[0].skipped, ::testing::HasSubstr("is refused"))
        << found.nodes[0].skipped;
  }
  fs::remove(outside);
}

TEST(Blame, PathsLeadIntoBodiesAndFunctions) {
  auto inner = std::make_shared<Graph>();
  inner->nodes = {node("Neg", {"x"}, "z", 0)};
  auto function = std::make_shared<Function>();
  function->nodes = {node("Abs", {"x"}, "z", 0), node("Abs", {"z"}, "w", 1)};
  Model model;
  model.graph.nodes = {node("Neg", {"x"}, "y", 0), node("Loop", {}, "l", 1),
                       node("Mine", {}, "m", 2)};
  model.graph.nodes[1].attributes["body"].is = std::shared_ptr<const Graph>(inner);
  model.graph.nodes[2].function = function;
  EXPECT_EQ(nodes_at(model, ""), &model.graph.nodes);
  EXPECT_EQ(nodes_at(model, "Loop_1/body#2"), &inner->nodes);
  EXPECT_EQ(nodes_at(model, "Mine_2"), &function->nodes);
  EXPECT_EQ(nodes_at(model, "Loop_1"), nullptr);
  EXPECT_EQ(nodes_at(model, "Loop_1/other"), nullptr);
  EXPECT_EQ(nodes_at(model, "Neg_9"), nullptr);
}

}  // namespace
}  // namespace touchstone::conformance
