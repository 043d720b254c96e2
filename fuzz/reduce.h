// Reduces a case to a smaller one that shows the same fault.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "fuzz/case.h"
#include "fuzz/outcome.h"

namespace touchstone::fuzz {

using ExamineCase = std::function<Outcome(const Case&)>;

struct Reduced {
  Case is;
  Outcome outcome;
  Index trials = 0;
  bool in_time = true;  // false: the time ended before every step had been tried
};

// Reduces a case whose outcome is `found`. Each accepted step shows the same fault (same_fault). A
// case that is a line is reduced as a line; any other by its graph, and as a line once a single
// node shows the fault.
Reduced reduce(const Case& one, const Outcome& found, const ExamineCase& examine,
               std::chrono::milliseconds time);

// Returns simpler lines than this one, boldest first: fewer attributes, outputs and inputs, smaller
// sizes, plainer values.
std::vector<std::string> simpler_lines(const std::string& line);

// Returns simpler models: nodes left out, one output, smaller sizes, plainer values.
std::vector<Case> simpler_graphs(const Case& one);

// Returns the line of a case of one node with one set of feeds, with its data written out. "" if
// the case is none or a line cannot express it.
std::string line_of(const Case& one);

}  // namespace touchstone::fuzz
