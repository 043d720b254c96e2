// A suite on disk: folders of backend-test cases, found by listing them. Nothing else determines a
// suite's content.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/shape.h"

namespace touchstone::suites {

// One test_data_set_K: inputs and expected outputs in their order.
struct DataSet {
  std::filesystem::path folder;
  std::vector<std::filesystem::path> inputs, outputs;
};

// A case's name in one suite.
struct Place {
  std::string suite, name;  // onnx@1.6.0, test_abs
};

struct Case {
  std::string name, kind;  // kind: the parent folder, such as "node"; "" for a single case
  std::string source;
  std::filesystem::path model;
  std::vector<DataSet> data;
  double rtol = 1e-3, atol = 1e-7;  // the suite's own tolerance, for the compatibility column
  std::vector<Place> places = {};   // for a suite of several releases: those that contain this case
  std::string hash = {};            // hash of the content, in such a suite
  std::string line = {};  // for the spec suite: the line that the case is made from (line.h)

  std::string key() const { return kind.empty() ? name : kind + "/" + name; }
};

struct Suite {
  std::string name;
  std::filesystem::path root;
  std::vector<Case> cases;  // sorted by kind, then name
};

// Throws Error (file) if the folder does not exist or contains no case.
Suite read_suite(const std::filesystem::path& root, std::string name);

// Reads cases that are lines (line.h): one file, or all files *.cases below a folder. Skips lines
// with #.
Suite read_lines(const std::filesystem::path& root, std::string name);

// Writes a case that is a line to disk, in the layout of other cases with case.json. Returns it
// with its files.
Case write_line(const Case& one, const std::filesystem::path& folder);

// Reads input_0.pb, input_1.pb ... and output_0.pb ... of one folder.
DataSet read_data_set(const std::filesystem::path& folder);

// ${XDG_CACHE_HOME:-~/.cache}/touchstone/suites/VERSION
std::filesystem::path cached_suite(std::string_view version);

// Keeps the cases whose name or kind/name matches a shell pattern.
void keep_matching(Suite& suite, const std::string& pattern);

// Keeps the first `count` cases in the order of their hashes. Throws Error (usage) for a suite
// without hashes.
void keep_first(Suite& suite, Index count);

// Keeps the cases that this release does not contain.
void drop_release(Suite& suite, std::string_view version);

// Keeps every count-th case from the index-th on: shard sizes differ by at most one case, and kinds
// spread evenly.
void keep_shard(Suite& suite, Index index, Index count);

}  // namespace touchstone::suites
