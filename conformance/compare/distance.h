// Distance of two answers. A distance is no verdict: over a whole model a faithful one may be
// large.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/tensor.h"
#include "model/graph.h"

namespace touchstone::compare {

struct Distance {
  std::string output;
  Index elements = 0, different = 0;
  double most = 0;  // the largest difference of two elements; infinite if a NaN or infinity differs
  double scale = 0;                // the largest finite element of the two
  Index where = -1;                // index of the largest difference
  std::string place, left, right;  // the elements at that index, in decimal and hex
  std::string unlike;  // difference in type, shape or presence; then no elements are compared

  bool same() const { return unlike.empty() && different == 0; }
  double relative() const;  // most / scale; infinite if `unlike` is set
};

Distance distance(const std::string& output, const Value& left, const Value& right);

// Returns a distance for each output that either side has, in the model's order.
std::vector<Distance> distances(const std::vector<ValueInfo>& outputs,
                                const std::map<std::string, Value>& left,
                                const std::map<std::string, Value>& right);

// Returns the largest relative distance.
double farthest(const std::vector<Distance>& distances);

}  // namespace touchstone::compare
