// Suites are found by listing folders; the folders are made here.
#include "conformance/suites/suite.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "core/error.h"
#include "core/files.h"

namespace touchstone::suites {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "suite_test-XXXXXX").string();
    root = mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(root); }
  void put(const std::string& file, const std::string& text = "") {
    fs::create_directories((root / file).parent_path());
    write_atomically(root / file, text);
  }
  fs::path root;
};

TEST(Suite, CasesAreSortedAndKnowTheirKind) {
  Folder folder;
  folder.put("simple/test_b/model.onnx");
  folder.put("node/test_z/model.onnx");
  folder.put("node/test_a/model.onnx");
  folder.put("node/test_a/test_data_set_0/input_0.pb");
  folder.put("manifest.json", "{}");
  const Suite suite = read_suite(folder.root, "mine");
  ASSERT_EQ(suite.cases.size(), 3u);
  EXPECT_EQ(suite.cases[0].key(), "node/test_a");
  EXPECT_EQ(suite.cases[1].key(), "node/test_z");
  EXPECT_EQ(suite.cases[2].key(), "simple/test_b");
}

TEST(Suite, DataSetsAndInputsCountAsNumbers) {
  Folder folder;
  folder.put("case/model.onnx");
  for (int k = 0; k < 11; ++k) {
    folder.put("case/test_data_set_" + std::to_string(k) + "/output_0.pb");
    folder.put("case/test_data_set_0/input_" + std::to_string(k) + ".pb");
  }
  const Suite suite = read_suite(folder.root, "mine");
  ASSERT_EQ(suite.cases[0].data.size(), 11u);
  EXPECT_EQ(suite.cases[0].data[10].folder.filename(), "test_data_set_10");
  EXPECT_EQ(suite.cases[0].data[0].inputs[10].filename(), "input_10.pb");
  EXPECT_EQ(suite.cases[0].data[0].outputs.size(), 1u);
}

TEST(Suite, AGapInTheInputsIsRefused) {
  Folder folder;
  folder.put("case/model.onnx");
  folder.put("case/test_data_set_0/input_1.pb");
  EXPECT_THROW(read_suite(folder.root, "mine"), Error);
}

TEST(Suite, ToleranceComesFromDataJsonAndCaseJson) {
  Folder folder;
  folder.put("real/old/model.onnx");
  folder.put("real/old/data.json", R"({"rtol": 0.002})");
  folder.put("real/new/model.onnx");
  folder.put("real/new/case.json", R"({"rtol": 0.5, "atol": 0.25, "source": "here"})");
  const Suite suite = read_suite(folder.root, "mine");
  EXPECT_EQ(suite.cases[0].rtol, 0.5);
  EXPECT_EQ(suite.cases[0].atol, 0.25);
  EXPECT_EQ(suite.cases[0].source, "here");
  EXPECT_EQ(suite.cases[1].rtol, 0.002);
  EXPECT_EQ(suite.cases[1].atol, 1e-7);
  folder.put("real/new/case.json", "[1");
  EXPECT_THROW(read_suite(folder.root, "mine"), Error);
}

TEST(Suite, OneFolderMayBeTheCase) {
  Folder folder;
  folder.put("lonely/model.onnx");
  const Suite suite = read_suite(folder.root / "lonely", "mine");
  ASSERT_EQ(suite.cases.size(), 1u);
  EXPECT_EQ(suite.cases[0].key(), "lonely");
}

TEST(Suite, NothingThereIsAnError) {
  Folder folder;
  EXPECT_THROW(read_suite(folder.root / "absent", "mine"), Error);
  EXPECT_THROW(read_suite(folder.root, "mine"), Error);
}

Suite numbered(int count) {
  Suite suite;
  for (int k = 0; k < count; ++k) {
    suite.cases.emplace_back();
    suite.cases.back().name = "test_" + std::to_string(k);
    suite.cases.back().kind = k % 2 ? "odd" : "even";
  }
  return suite;
}

TEST(Suite, ShardsAreAPartition) {
  std::size_t all = 0;
  for (Index shard = 0; shard < 3; ++shard) {
    Suite suite = numbered(10);
    keep_shard(suite, shard, 3);
    all += suite.cases.size();
    EXPECT_EQ(suite.cases[0].name, "test_" + std::to_string(shard));
  }
  EXPECT_EQ(all, 10u);
  Suite suite = numbered(3);
  EXPECT_THROW(keep_shard(suite, 3, 3), Error);
}

Suite hashed() {
  Suite suite = numbered(4);
  const std::vector<std::string> hashes{"c0", "0a", "ff", "0b"};
  for (std::size_t k = 0; k < 4; ++k) suite.cases[k].hash = hashes[k];
  return suite;
}

TEST(Suite, TheFirstAreThoseOfTheLeastHashes) {
  Suite suite = hashed();
  keep_first(suite, 2);
  ASSERT_EQ(suite.cases.size(), 2u);
  EXPECT_EQ(suite.cases[0].name, "test_1");
  EXPECT_EQ(suite.cases[1].name, "test_3");
  suite = hashed();
  keep_first(suite, 9);
  EXPECT_EQ(suite.cases.size(), 4u);
  suite.cases[2].hash.clear();
  EXPECT_THROW(keep_first(suite, 2), Error);
}

TEST(Suite, ACaseKnowsTheReleasesThatHoldIt) {
  Folder folder;
  folder.put("1.2.1/node/test_a/model.onnx");
  folder.put(
      "1.2.1/node/test_a/case.json",
      R"({"hash": "0a", "releases": {"1.2.1": ["node/test_a"], "1.6.0": ["node/test_a", "simple/test_b"]}})");
  folder.put("1.6.0/node/test_a/model.onnx");
  folder.put("1.6.0/node/test_a/case.json",
             R"({"hash": "0b", "releases": {"1.6.0": ["node/test_a"]}})");
  Suite suite = read_suite(folder.root, "onnx@all");
  ASSERT_EQ(suite.cases.size(), 2u);
  EXPECT_EQ(suite.cases[0].key(), "1.2.1/node/test_a");
  EXPECT_EQ(suite.cases[0].hash, "0a");
  ASSERT_EQ(suite.cases[0].places.size(), 3u);
  EXPECT_EQ(suite.cases[0].places[2].suite, "onnx@1.6.0");
  EXPECT_EQ(suite.cases[0].places[2].name, "test_b");
  drop_release(suite, "1.2.1");
  ASSERT_EQ(suite.cases.size(), 1u);
  EXPECT_EQ(suite.cases[0].key(), "1.6.0/node/test_a");
}

TEST(Suite, AFilterMatchesNameOrKind) {
  Suite suite = numbered(10);
  keep_matching(suite, "odd/*");
  EXPECT_EQ(suite.cases.size(), 5u);
  keep_matching(suite, "test_[13]");
  EXPECT_EQ(suite.cases.size(), 2u);
}

}  // namespace
}  // namespace touchstone::suites
