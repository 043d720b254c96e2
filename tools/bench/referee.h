// Is an output that was made while the clock ran the right one? A figure whose output is not is no
// figure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/tensor.h"
#include "model/graph.h"

namespace touchstone {

using Outputs = std::map<std::string, Value>;

// Holds outputs to the reference's own, on the same inputs. A whole model has no bound that
// arithmetic alone gives and that would refuse anything: each node's is multiplied by all that
// follow. So an output must be of the expected type and shape, finite where the reference is,
// and near: nearer than a thousandth of its largest element (the standard's own tolerance for
// models, of the output and not of each element: sums that cancel leave elements that have no digit
// of their own), and at most a sixteenth as far as the reference's outputs for two of the bench's
// other inputs are apart, so that the outputs of another run never pass. Integers, truths and
// strings must be the same. `touchstone compare` judges node by node.
class Referee {
 public:
  // What the reference gives on each set of inputs.
  Referee(std::vector<ValueInfo> outputs, std::vector<Outputs> expected);

  struct Ruling {
    double distance = 0;  // the largest relative one
    std::string fault;    // empty: right
  };
  Ruling hold(Index set, const Outputs& given) const;

  // Why the outputs could not tell one input from another; empty if they can. A comparison that
  // cannot fail is none.
  std::string blind() const;

 private:
  std::vector<ValueInfo> outputs_;
  std::vector<Outputs> expected_;
  std::map<std::string, double> allowed_, apart_;
};

}  // namespace touchstone
