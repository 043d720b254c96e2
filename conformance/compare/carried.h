// Values that nobody saw, with the bounds that they have got so far: what an honest runtime may
// have had there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "conformance/judge/judge.h"
#include "model/graph.h"
#include "reference/readings/wide_call.h"

namespace touchstone {

struct Carried {
  Value ours;                  // as our own kernels have it
  std::vector<Bounded> bound;  // one an element; empty: it can be nothing else than ours
};

// Which of two ways to read subnormals, and how strictly: as for a single node, but for a whole
// region at a time.
struct Reading {
  Class cls = Class::strict;
  bool flush = false;
};

// One node whose inputs may be carried. `observed`: its outputs where they were seen.
class CarriedNode {
 public:
  CarriedNode(const Node& node, std::vector<Carried> inputs, std::vector<Value> observed,
              const Reading& reading, const JudgeOptions& options);

  // An output that was not seen. Throws Error (unsupported) where its bound is not known.
  Carried output(std::size_t k);
  // One that was.
  Comparison judge(std::size_t k);

 private:
  bool carries() const;
  void read();
  void look_up_moved();
  const std::vector<Value>& natively();

  const Node& node_;
  std::vector<Carried> inputs_;
  std::vector<Value> observed_, seen_inputs_;
  Reading reading_;
  const JudgeOptions& options_;
  std::vector<WideOutput<Bounded>> wide_;
  std::optional<std::vector<Value>> natively_;
};

}  // namespace touchstone
