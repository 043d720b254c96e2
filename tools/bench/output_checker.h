// Decides if an output computed during timing is right. A figure with a wrong output is discarded.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/tensor.h"
#include "model/graph.h"

namespace touchstone::bench {

using Outputs = std::map<std::string, Value>;

// Compares outputs with the reference's own, on the same inputs. A rigorous bound over a whole
// model would accept anything, since each node's bound is multiplied by all later nodes. So an
// output must have the expected type and shape, be finite where the reference is, and differ by no
// more than accumulated rounding.
//
// Rounding errors of n operations grow like sqrt(n) (Higham and Mary, SIAM J. Sci. Comput. 41,
// 2019, A2815). A node counts as 64, for sums of some 4,096 terms, the length of a 3x3 kernel over
// 512 channels. All nodes together count as the square root of their number. The amplification of
// errors by the model is measured: by the change of its output when each element of its inputs
// is replaced by the next float. Distances are relative to the output's largest element, since sums
// that cancel leave elements without significant digits.
//
// Two upper limits apply besides. The first is a thousandth, the standard's own tolerance for
// models. The second is a sixteenth of the distance between the reference's outputs for two of the
// bench's inputs. It ensures that outputs of another run never pass. Integers, bools and strings
// must be equal. `touchstone compare` judges node by node.
class OutputChecker {
 public:
  // `expected` and `moved`: the reference's outputs on each set of inputs, and on the first set
  // with every float replaced by a neighbor. `nodes`: number of the model's nodes.
  OutputChecker(std::vector<ValueInfo> outputs, std::vector<Outputs> expected, const Outputs& moved,
                Index nodes);

  struct Ruling {
    double distance = 0;  // the largest relative distance
    std::string fault;    // empty: right
  };
  Ruling hold(Index set, const Outputs& given) const;

  // Returns the reason why the outputs cannot distinguish one input from another; empty if they
  // can. A comparison that cannot fail proves nothing.
  std::string indistinguishable() const;

 private:
  std::vector<ValueInfo> outputs_;
  std::vector<Outputs> expected_;
  std::map<std::string, double> allowed_, apart_;
};

}  // namespace touchstone::bench
