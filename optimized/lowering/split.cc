// Family `split`: parts of a tensor along one axis, each a strided copy.
#include "optimized/lowering/families.h"
#include "optimized/lowering/moves.h"
#include "optimized/plan/groups.h"

namespace touchstone::optimized {
namespace {

constexpr int first_known = 2, feeds_lengths = 13, counts_outputs = 18;

class Split : public Moves {
 public:
  using Moves::Moves;

 private:
  bool moved(RunState& state) override {
    const Tensor& from = input(state, 0);
    const Shape& shape = from.shape();
    const Index rank = shape.size(), axis = wrap(fact().attributes().integer("axis"), rank);
    if (axis < 0 || axis >= rank) return false;
    const std::optional<IndexVector> found = lengths(state, shape[axis]);
    if (!found || found->size() != static_cast<Index>(fact().outputs.size())) return false;
    Index sum = 0;
    for (const Index length : *found) {
      if (length < 0 || length > shape[axis]) return false;
      sum = add(sum, length);
    }
    if (sum != shape[axis]) return false;
    const Index outer = count(head(shape, axis)), inner = count(tail(shape, axis + 1));
    Index start = 0;
    for (Index k = 0; k < found->size(); ++k) {
      const Index length = (*found)[k];
      Tensor& made =
          output(state, static_cast<std::size_t>(k), from.type(), replaced(shape, axis, length));
      if (made.size() == 0) continue;
      const Index row = shape[axis] * inner, own = length * inner;
      if (!copy(state, {{outer, own}, {row, 1}, {own, 1}, start * inner, 0}, from, made))
        return false;
      start += length;
    }
    return true;
  }

  // Returns the asked length of each output, or nullopt if the node's options contradict.
  std::optional<IndexVector> lengths(const RunState& state, Index extent) const {
    const int since = fact().node->signature->since;
    const Index parts = static_cast<Index>(fact().outputs.size());
    const Facts given = fact().attributes();
    const bool counted = since >= counts_outputs && given.given("num_outputs");
    if (since >= feeds_lengths && has_input(1)) {
      if (counted || input(state, 1).shape().size() != 1) return std::nullopt;
      return list(state, 1);
    }
    if (since < feeds_lengths && given.given("split")) return given.integers("split");
    if (since < counts_outputs) return IndexVector(parts, extent / parts);
    if (!counted || given.integer("num_outputs") != parts) return std::nullopt;
    const Index longest = ceil_div(extent, parts);
    IndexVector made(parts, longest);
    made[parts - 1] = extent - (parts - 1) * longest;
    return made;
  }
};

// Movement that only constants and shapes control is planned as a whole.
bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature& signature = *fact.node->signature;
  if (!signature.domain.empty() || signature.op != "Split" || signature.since < first_known)
    return false;
  if (fact.outputs.empty()) return false;
  for (const Index made : fact.outputs) {
    if (made == no_value) return false;
  }
  return is_movable(element_of(graph, node, 0)) && !is_data_movement(graph, node);
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  auto made = std::make_unique<Split>(graph, node, std::move(buffers));
  made->kernel = "split";
  made->kernel_class = KernelClass::copy;
  return made;
}

}  // namespace

const KernelFamily split_family{"split", KernelClass::copy, takes, step};

}  // namespace touchstone::optimized
