// A run in tables: how each kind and form of case ended, and how sharp the judge's bounds were.
#pragma once

#include <string>
#include <vector>

#include "conformance/results.h"

namespace touchstone {

// A row a kind of case, and below it a row a form of the node that was judged ("" where no single
// node was); a column a verdict.
std::string verdict_table(const std::vector<CaseResult>& cases);

// "612 of 1010 cases of one node that reads float32 ran it on fast kernels: 60.6 %"; empty from a
// target that does not say. And a row an operator, those with most cases left to the reference
// first.
std::string share_line(const std::vector<CaseResult>& cases);
std::string share_table(const std::vector<CaseResult>& cases);

// "12 convolution, 3 winograd": the cases in which kernels of each class ran; empty likewise.
std::string kernel_line(const std::vector<CaseResult>& cases);

// How sharp the judge's bounds were over the cases of one node whose first output is of floats.
struct Sharpness {
  Index cases = 0, elements = 0, open = 0;
  std::vector<double> resolutions;   // a case each, where there is a bound
  std::vector<double> utilisations;  // a case each that passes: what is wrong has no largest error

  void add(const CaseResult& one);
  double open_share() const;   // of the elements
  double resolution() const;   // the median
  double utilisation() const;  // the median
  double largest_utilisation() const;
};
Sharpness sharpness(const std::vector<CaseResult>& cases);

// "12 cases of one float node: 0.10 % of 3456 elements open, median resolution 2^-21.3 ..."; empty
// if there are none.
std::string sharpness_line(const std::vector<CaseResult>& cases);

// Over single-node cases whose first output is of floats: a row a form and type with the share of
// open elements, the median resolution, and the median and largest utilisation; the last row is all
// of them. Empty if there are none.
std::string sharpness_table(const std::vector<CaseResult>& cases);

}  // namespace touchstone
