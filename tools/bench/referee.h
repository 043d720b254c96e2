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
// follow. So an output must be of the expected type and shape, finite where the reference is, and
// as near as roundings leave it. Roundings of n operations add up like sqrt(n) (Higham and Mary,
// SIAM J. Sci. Comput. 41, 2019, A2815): in a node like 64, for sums of some 4,096 terms, as long
// as those of a 3x3 kernel over 512 channels; over all nodes like the root of their number. How a
// model multiplies an error is measured: by how much its output moves when each element of its
// inputs moves to the next float. Distances are shares of the output's largest element, since sums
// that cancel leave elements that have no digit of their own. Beyond that an output is nearer than
// a thousandth, the standard's own tolerance for models, and at most a sixteenth as far as the
// reference's outputs for two of the bench's other inputs are apart, so that the outputs of another
// run never pass. Integers, truths and strings must be the same. `touchstone compare` judges node
// by node.
class Referee {
 public:
  // The reference's outputs: on each set of inputs, and on the first with every float moved to a
  // neighbour. `nodes`: of the model.
  Referee(std::vector<ValueInfo> outputs, std::vector<Outputs> expected, const Outputs& moved,
          Index nodes);

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
