// Gets a released suite into the cache by running the maker (conformance/suites/make.py), once.
#pragma once

#include <filesystem>
#include <string>

namespace touchstone {

std::string pinned_release();  // of onnx: the one that this build was configured with

// The suite's folder; makes the suite if it is not there. Throws Error (file) with the one command to type.
std::filesystem::path suite_of_release(const std::string& version);

}  // namespace touchstone
