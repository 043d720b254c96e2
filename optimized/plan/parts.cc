// Fuses pointwise nodes into parts with one kernel. Nodes are added in order. The last node of a
// known pattern absorbs the parts before it.
#include "optimized/plan/parts.h"

#include <algorithm>

#include "optimized/kernels/compiled.h"

namespace touchstone {

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
    parts_.push_back({*graph_.node(op.node).node, op.inputs, op.output, {}});
    const OperatorKind last = kind(parts_.back());
    if (last == OperatorKind::clip) join_grid();
    if (last == OperatorKind::mul && !join_swish()) join_factor();
  }
  std::vector<Part> all() { return std::move(parts_); }

 private:
  using Place = std::vector<Part>::iterator;

  static OperatorKind kind(const Part& part) { return operator_kind(*part.node.signature); }

  // Finds the part of this kind that computes a value, if the value has one user.
  std::optional<Place> maker(Index value, OperatorKind wanted) {
    if (value == no_value || graph_.value(value).users.size() != 1) return std::nullopt;
    const auto found = std::find_if(parts_.begin(), parts_.end(), [&](const Part& part) {
      return part.output == value && !part.grid && kind(part) == wanted;
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
      Node named;
      named.name = times.node.name;
      named.domain = std::string(swish->signature->domain);
      named.op = std::string(swish->signature->op);
      named.inputs = {times.node.inputs[0]};
      named.outputs = times.node.outputs;
      named.signature = swish->signature;
      parts_.erase(*sigmoid);
      parts_.back() = {named, {x}, times.output, {}};
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

  // Fuses the multiplication of a rounded value by a constant.
  void join_factor() {
    for (const std::size_t k : {std::size_t{0}, std::size_t{1}}) {
      const Index value = parts_.back().inputs[k];
      const std::optional<float> factor = number(parts_.back().inputs[1 - k]);
      const auto rounded = std::find_if(parts_.begin(), parts_.end(), [&](const Part& part) {
        return part.output == value && part.grid && part.grid->factor == 1;
      });
      if (!factor || rounded == parts_.end() || graph_.value(value).users.size() != 1) continue;
      Part joined = *rounded;
      joined.output = parts_.back().output;
      joined.grid->factor = *factor;
      parts_.erase(rounded);
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

void round_to_grid(const RoundingGrid& grid, Isa isa, RecordedCall& call) {
  call.kernel = grid.divisor ? of(TOUCHSTONE_KERNEL(rounded_to_grid), isa)
                             : of(TOUCHSTONE_KERNEL(rounded_in_steps), isa);
  call.inputs.resize(1);
  call.values = {};
  for (const float value : {grid.divisor.value_or(1), grid.min, grid.max, grid.factor})
    call.values.add(value);
}

}  // namespace touchstone
