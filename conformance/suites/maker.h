// Gets a released suite into the cache by running the maker (conformance/suites/make.py), once.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace touchstone {

std::string pinned_release();  // of onnx: the one that this build was configured with

// Where the lines of the spec suite stand: cases of our own, from the entries.
std::filesystem::path lines_of_spec();

// Names the suite of every case that differs from the others, out of all releases.
inline constexpr std::string_view all_releases = "all";

// The suite's folder; makes the suite if it is not there. Throws Error (file) with the one command
// to type.
std::filesystem::path suite_of_release(const std::string& version);

}  // namespace touchstone
