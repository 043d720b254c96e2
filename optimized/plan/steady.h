// Steps of a subgraph's plan whose results stay the same from one trip of a loop to the next.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace touchstone::optimized {

class Builder;

// Returns for each step whether inputs of these names alone determine what it writes. Extends the
// lifetimes of the buffers that such steps write over all steps: a later trip reads them again.
std::vector<bool> find_steady_steps(Builder& builder, const std::set<std::string>& inputs);

}  // namespace touchstone::optimized
