// A suite as it lies on disk: backend-test folders, found by looking. Nothing else decides what a
// suite holds.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/shape.h"

namespace touchstone {

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
  std::string name, kind;  // kind: the folder above, as "node"; "" for a case that stands alone
  std::string source;
  std::filesystem::path model;
  std::vector<DataSet> data;
  double rtol = 1e-3, atol = 1e-7;  // the suite's own tolerance, for the compatibility column
  std::vector<Place> places = {};  // of a suite of several releases: those that hold this very case
  std::string hash = {};           // there: of its content
  std::string line = {};  // what a case of the spec suite is made from, when it is run: line.h

  std::string key() const { return kind.empty() ? name : kind + "/" + name; }
};

struct Suite {
  std::string name;
  std::filesystem::path root;
  std::vector<Case> cases;  // sorted by kind, then name
};

// Throws Error (file) if there is no such folder, or no case in it.
Suite read_suite(const std::filesystem::path& root, std::string name);

// Cases that are lines (line.h): one file, or all files *.cases below a folder. Lines with # are
// passed over.
Suite read_lines(const std::filesystem::path& root, std::string name);

// Writes a case that is a line as others lie on disk, and what says so: case.json. Gives it back
// with its files.
Case write_line(const Case& one, const std::filesystem::path& folder);

// input_0.pb, input_1.pb ... and output_0.pb ... of one folder.
DataSet read_data_set(const std::filesystem::path& folder);

// ${XDG_CACHE_HOME:-~/.cache}/touchstone/suites/VERSION
std::filesystem::path cached_suite(std::string_view version);

// Keeps the cases whose name or kind/name matches a shell pattern.
void keep_matching(Suite& suite, const std::string& pattern);

// Keeps the so many cases whose hashes come first. Throws Error (usage) for a suite without hashes.
void keep_first(Suite& suite, Index count);

// Keeps the cases that this release does not hold.
void drop_release(Suite& suite, std::string_view version);

// Keeps every count-th case from the index-th on: shards differ by one case at most, and kinds
// spread evenly.
void keep_shard(Suite& suite, Index index, Index count);

}  // namespace touchstone
