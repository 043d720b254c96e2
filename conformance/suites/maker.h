// Gets a released suite into the cache by running the maker (conformance/suites/make.py), once.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace touchstone::suites {

std::string pinned_release();  // the onnx release that this build was configured with

// Returns the folder of the spec suite's lines: cases of our own, made from the entries.
std::filesystem::path lines_of_spec();

// Name of the suite of all distinct cases of all releases.
inline constexpr std::string_view all_releases = "all";

// Returns the suite's folder, and makes the suite if it is missing. Throws Error (file) with the
// command to run.
std::filesystem::path suite_of_release(const std::string& version);

}  // namespace touchstone::suites
