// Fuses pointwise nodes into parts with one kernel. Nodes are added in order. The last node of a
// known pattern absorbs the parts before it.
#include "optimized/plan/parts.h"

#include <algorithm>

#include "core/error.h"
#include "optimized/kernels/compiled.h"
#include "optimized/kernels/half_rounding.h"
#include "optimized/lowering/half_precision.h"
#include "optimized/lowering/quantised_values.h"

namespace touchstone::optimized {

TOUCHSTONE_DECLARE_KERNEL(rounded_in_steps);
TOUCHSTONE_DECLARE_KERNEL(rounded_to_grid);

namespace {

const FastEntry* entry_of(OperatorKind op) {
  for (const FastEntry& entry : fast_entries()) {
    if (operator_kind(*entry.signature) == op) return &entry;
  }
  return nullptr;
}

class Parts {
 public:
  explicit Parts(const AnalyzedGraph& graph) : graph_(graph) {}

  void add(const PointwiseOp& op) {
    if (op.second != no_value) return add_rounding(op);
    parts_.push_back({*graph_.node(op.node).node, op.inputs, op.output, {}});
    const OperatorKind last = kind(parts_.back());
    if (last == OperatorKind::clip) join_grid();
    if (const std::optional<float> alpha = threshold_of(parts_.back().node)) join_threshold(*alpha);
    if (last == OperatorKind::mul && !join_swish()) join_factor();
  }
  std::vector<Part> all() { return std::move(parts_); }

 private:
  using Place = std::vector<Part>::iterator;

  // Adds a rounding to 16 bits, recorded as a node that rounds to integers.
  void add_rounding(const PointwiseOp& op) {
    static const FastEntry* const round = entry_of(OperatorKind::round);
    if (round == nullptr) BUG("no kernel rounds");
    const Node& cast = *graph_.node(op.node).node;
    parts_.push_back({call_of_one(*round->signature, cast),
                      op.inputs,
                      op.output,
                      {},
                      half_rounding(graph_, op.node)->type});
  }
  // Returns a node of one input with the names of another.
  static Node call_of_one(const Signature& signature, const Node& named) {
    Node node;
    node.name = named.name;
    node.domain = std::string(signature.domain);
    node.op = std::string(signature.op);
    node.inputs = {named.inputs[0]};
    node.outputs = named.outputs;
    node.signature = &signature;
    return node;
  }

  static OperatorKind kind(const Part& part) { return operator_kind(*part.node.signature); }

  // Finds the part of this kind that computes a value, if the value has one user.
  std::optional<Place> maker(Index value, OperatorKind wanted) {
    if (value == no_value || graph_.value(value).users.size() != 1) return std::nullopt;
    const auto found = std::find_if(parts_.begin(), parts_.end(), [&](const Part& part) {
      return part.output == value && !part.grid && part.half == Type::undefined &&
             kind(part) == wanted;
    });
    return found == parts_.end() ? std::nullopt : std::optional(found);
  }
  std::optional<float> number(Index value) const {
    const Tensor* constant = value == no_value ? nullptr : graph_.value(value).constant;
    if (constant == nullptr || constant->size() != 1 || constant->type() != Type::float32)
      return std::nullopt;
    return *constant->data<float>();
  }

  // Fuses x * sigmoid(x) into a swish.
  bool join_swish() {
    static const FastEntry* const swish = entry_of(OperatorKind::swish);
    if (swish == nullptr) return false;
    const Part times = parts_.back();
    for (const std::size_t k : {std::size_t{0}, std::size_t{1}}) {
      const std::optional<Place> sigmoid = maker(times.inputs[k], OperatorKind::sigmoid);
      const Index x = times.inputs[1 - k];
      if (!sigmoid || (*sigmoid)->inputs[0] != x) continue;
      parts_.erase(*sigmoid);
      parts_.back() = {call_of_one(*swish->signature, times.node), {x}, times.output, {}};
      return true;
    }
    return false;
  }

  // Fuses rounding of a value, or of its quotient by a constant, and the clamp after it.
  void join_grid() {
    const Part clamp = parts_.back();
    const std::optional<Place> whole = maker(clamp.inputs[0], OperatorKind::round);
    if (!whole || clamp.inputs.size() != 3) return;
    const std::optional<float> min = number(clamp.inputs[1]), max = number(clamp.inputs[2]);
    // Otherwise the order of the two comparisons would matter.
    if (!min || !max || !(*min <= *max)) return;
    Part joined = **whole;
    std::vector<Index> gone{joined.output};
    std::optional<float> divisor;
    if (const std::optional<Place> quotient = maker(joined.inputs[0], OperatorKind::div)) {
      divisor = number((*quotient)->inputs[1]);
      if (divisor) {
        joined = **quotient;
        gone.push_back(joined.output);
      }
    }
    if (joined.inputs[0] == no_value || number(joined.inputs[0])) return;
    joined.output = clamp.output;
    joined.grid = RoundingGrid{divisor, *min, *max};
    std::erase_if(parts_, [&](const Part& part) {
      return std::find(gone.begin(), gone.end(), part.output) != gone.end();
    });
    parts_.back() = std::move(joined);
  }

  // Returns the rounding that computes a value of one user and is not multiplied yet.
  std::optional<Place> rounding(Index value) {
    const auto found = std::find_if(parts_.begin(), parts_.end(), [&](const Part& part) {
      return part.output == value && part.grid && part.grid->factor == 1;
    });
    if (found == parts_.end() || graph_.value(value).users.size() != 1) return std::nullopt;
    return found;
  }

  // Fuses a threshold under all bounds of a rounding: it replaces NaN alone.
  void join_threshold(float alpha) {
    const Part threshold = parts_.back();
    const std::optional<Place> rounded = rounding(threshold.inputs[0]);
    if (!rounded || !(alpha < (*rounded)->grid->min)) return;
    Part joined = **rounded;
    joined.output = threshold.output;
    joined.grid->of_nan = 0;
    parts_.erase(*rounded);
    parts_.back() = std::move(joined);
  }

  // Fuses the multiplication of a rounded value by a constant.
  void join_factor() {
    for (const std::size_t k : {std::size_t{0}, std::size_t{1}}) {
      const Index value = parts_.back().inputs[k];
      const std::optional<float> factor = number(parts_.back().inputs[1 - k]);
      const std::optional<Place> rounded = rounding(value);
      if (!factor || !rounded) continue;
      Part joined = **rounded;
      joined.output = parts_.back().output;
      joined.grid->factor = *factor;
      parts_.erase(*rounded);
      parts_.back() = std::move(joined);
      return;
    }
  }

  const AnalyzedGraph& graph_;
  std::vector<Part> parts_;
};

}  // namespace

std::vector<Part> parts_of(const AnalyzedGraph& graph, const Region& region) {
  Parts parts(graph);
  for (const PointwiseOp& op : region.ops) parts.add(op);
  return parts.all();
}

void use_rounding_kernel(const Part& part, Isa isa, RecordedCall& call) {
  if (part.half != Type::undefined) call.kernel = of(rounding_kernel(part.half), isa);
  if (!part.grid) return;
  const RoundingGrid& grid = *part.grid;
  call.kernel = grid.divisor ? of(TOUCHSTONE_KERNEL(rounded_to_grid), isa)
                             : of(TOUCHSTONE_KERNEL(rounded_in_steps), isa);
  call.inputs.resize(1);
  call.values = {};
  for (const float value : {grid.divisor.value_or(1), grid.min, grid.max, grid.of_nan, grid.factor})
    call.values.add(value);
}

}  // namespace touchstone::optimized
