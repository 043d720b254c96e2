// Prints the results of `touchstone compare`.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "conformance/compare/compare.h"

namespace touchstone::command {

using ReplayLines = std::array<std::vector<std::string>, 2>;  // left, right: commands that replay

constexpr const char* side_names[] = {"left", "right"};

void print(const Model& model, const compare::Compared& found, const ReplayLines& replays);

}  // namespace touchstone::command
