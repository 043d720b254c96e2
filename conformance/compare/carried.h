// Values that were not observed, with the accumulated bound on what a faithful runtime may have had
// there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "conformance/judge/judge.h"
#include "model/graph.h"
#include "reference/semantics/extended_call.h"

namespace touchstone::compare {

struct Carried {
  Value ours;                  // computed by our own kernels
  std::vector<Bounded> bound;  // one per element; empty: the value must equal ours
};

// Treatment of subnormals, and accuracy class: as for a single node, but for a whole region.
struct Interpretation {
  Class cls = Class::strict;
  bool flush = false;
};

// One node whose inputs may be carried. `observed`: its outputs, if they were observed.
class CarriedNode {
 public:
  CarriedNode(const Node& node, std::vector<Carried> inputs, std::vector<Value> observed,
              const Interpretation& interpretation, const judge::JudgeOptions& options);

  // Returns an output that was not observed. Throws Error (unsupported) if its bound is unknown.
  Carried output(std::size_t k);
  // Judges an observed output.
  judge::Comparison judge(std::size_t k);

 private:
  bool carries() const;
  void read();
  Type carried_type() const;  // of the first carried input
  void look_up_moved();
  void require_places(const Tensor& marks, const Value& ours,
                      const std::vector<std::uint64_t>& sources) const;
  const std::vector<Value>& natively();

  const Node& node_;
  std::vector<Carried> inputs_;
  std::vector<Value> observed_, seen_inputs_;
  Interpretation interpretation_;
  const judge::JudgeOptions& options_;
  std::vector<ExtendedOutput<Bounded>> extended_;
  std::optional<std::vector<Value>> natively_;
};

}  // namespace touchstone::compare
