// Edits of the text of lines of the spec suite (conformance/suites/line.h), and numbers for them.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "fuzz/random.h"

namespace touchstone::fuzz {

// Numbers that are likely to break sizes, counts and indices.
Index odd_number(Random& random);

// Returns the text with one to three edits, which need not parse. `same`: lines of the same
// operator.
std::string mutated(std::string line, const std::vector<std::string>& same, Random& random);

// Reads the files *.cases below a folder: lines without their rules, sorted, by "Operator-version".
// Skips comments and long lines. Throws Error (file) if there is no line.
std::map<std::string, std::vector<std::string>> lines_by_operator(
    const std::filesystem::path& folder);

}  // namespace touchstone::fuzz
