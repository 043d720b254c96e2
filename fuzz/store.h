// Findings on disk: one folder each, in the layout of backend tests, with scripts and texts that
// stand alone.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "fuzz/case.h"
#include "fuzz/state.h"

namespace touchstone::fuzz {

// Returns FOLDER/findings/HASH.
std::filesystem::path folder_of(const std::filesystem::path& folder, const Finding& finding);

// Writes model.onnx, test_data_set_K with inputs and the reference's outputs, case.json, replay.py
// and issue.md; for a pair transformed.onnx and transformed_data_set_K, too. `replay`: the command
// that shows the finding again. The folder appears whole or not at all. Runs the reference, so call
// it in a process of its own. Throws Error (file).
void write_finding(const Finding& finding, const Case& one, const std::string& replay,
                   const std::filesystem::path& to);

// Reads a case from such a folder, or from any folder with model.onnx and test_data_set_K. A text
// that is no folder is a line of the spec suite.
struct StoredCase {
  Case is;
  std::optional<Finding> finding;
};
StoredCase read_case(const std::string& path_or_line);

}  // namespace touchstone::fuzz
