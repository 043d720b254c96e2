// Tables of a run: the verdicts of each kind and operator family of cases, and the sharpness of the
// judge's bounds.
#pragma once

#include <string>
#include <vector>

#include "conformance/results.h"

namespace touchstone::conformance {

// Returns a table with a row per kind of case and a column per verdict. Each kind is subdivided by
// the operator family of the judged node ("(no single node)" for other cases).
std::string verdict_table(const std::vector<CaseResult>& cases);

// share_line: "612 of 1010 cases of one node that reads float32 ran it on fast kernels: 60.6 %";
// empty if the target does not report kernels. share_table: a row per operator, those with most
// cases on the reference first.
std::string share_line(const std::vector<CaseResult>& cases);
std::string share_table(const std::vector<CaseResult>& cases);

// Returns "12 convolution, 3 winograd": the cases in which kernels of each class ran; empty as
// above.
std::string kernel_line(const std::vector<CaseResult>& cases);

// Sharpness of the judge's bounds over single-node cases whose first output is of floats.
struct Sharpness {
  Index cases = 0, elements = 0, open = 0;
  std::vector<double> resolutions;   // one per case that has a bound
  std::vector<double> utilisations;  // one per passing case: a wrong result has no upper limit

  void add(const CaseResult& one);
  double open_share() const;   // share of the elements
  double resolution() const;   // the median
  double utilisation() const;  // the median
  double largest_utilisation() const;
};
Sharpness sharpness(const std::vector<CaseResult>& cases);

// Returns "12 cases of one float node: 0.10 % of 3456 elements open, median resolution 2^-21.3
// ..."; empty if there are none.
std::string sharpness_line(const std::vector<CaseResult>& cases);

// Returns a table over single-node cases whose first output is of floats: a row per operator family
// and type, and a last row for all. Columns are the share of open elements, the median resolution,
// and the median and largest utilisation. Empty if there are none.
std::string sharpness_table(const std::vector<CaseResult>& cases);

}  // namespace touchstone::conformance
