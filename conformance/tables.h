// A run in tables: how each kind and form of case ended, and how sharp the judge's bounds were.
#pragma once

#include <string>
#include <vector>

#include "conformance/results.h"

namespace touchstone {

// A row a kind of case, and below it a row a form of the node that was judged ("" where no single node was); a column a verdict.
std::string verdict_table(const std::vector<CaseResult>& cases);

// Over single-node cases whose first output is of floats: a row a form and type with the share of open elements, the median
// resolution, and the median and largest utilisation; the last row is all of them. Empty if there are none.
std::string sharpness_table(const std::vector<CaseResult>& cases);

}  // namespace touchstone
