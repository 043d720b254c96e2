// How far apart two answers are. A distance is no verdict: over a whole model an honest one may be
// large.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/tensor.h"
#include "model/graph.h"

namespace touchstone {

struct Distance {
  std::string output;
  Index elements = 0, different = 0;
  double most = 0;  // the largest difference of two elements; infinite if they are no numbers alike
  double scale = 0;                // the largest finite element of the two
  Index where = -1;                // of the largest difference
  std::string place, left, right;  // there, in decimal and hex
  std::string unlike;  // what else differs: type, shape, presence; then nothing else is counted

  bool same() const { return unlike.empty() && different == 0; }
  double relative() const;  // most / scale; infinite for what is unlike
};

Distance distance(const std::string& output, const Value& left, const Value& right);

// One for each output that either side has, in the model's order.
std::vector<Distance> distances(const std::vector<ValueInfo>& outputs,
                                const std::map<std::string, Value>& left,
                                const std::map<std::string, Value>& right);

// The largest relative distance of all.
double farthest(const std::vector<Distance>& distances);

}  // namespace touchstone
