// Family `reductions`: Reduce* of float64, integers and bools, over any axes.
#include <algorithm>
#include <cmath>

#include "core/placement.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/moves.h"
#include "optimized/lowering/reduction_loops.h"
#include "optimized/problems/collapse.h"

namespace touchstone::optimized {
namespace {

constexpr double nanoseconds_a_term = 0.5;
using ReduceRow = void (*)(const void*, Index, void*);

bool axes_are_fed(const Signature& signature) {
  return signature.since >= (signature.op == "ReduceSum" ? 13 : 18);
}

// Elements in the order of the input, over dimensions that are reduced or kept.
struct Reduced {
  Shape shape;  // of the output
  Collapsed walk;
  Index terms = 1;
};

class Reductions : public Moves {
 public:
  Reductions(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : Moves(graph, node, std::move(buffers)),
        loops_(*reduction_loops(fact().node->signature->op, element_of(graph, node, 0))) {}

 private:
  bool moved(RunState& state) override {
    const Tensor& from = input(state, 0);
    const std::optional<Reduced> found = reduced(state, from.shape());
    if (!found) return false;
    Tensor& made = output(state, 0, from.type(), found->shape);
    if (made.size() == 0) return true;
    const bool in_place = loops_.bytes == bytes_of(from.type());
    if (!in_place) charge_scratch(multiply(made.size(), loops_.bytes));
    std::vector<std::byte> held(in_place ? 0
                                         : static_cast<std::size_t>(made.size() * loops_.bytes));
    std::byte* const to = in_place ? made.bytes().data() : held.data();
    loops_.start(to, made.size());
    if (from.size() > 0) {
      charge_work(from.size());
      reduce(state, found->walk, from, to, loops_.along, loops_.beside);
      if (loops_.along_again != nullptr)
        reduce(state, found->walk, from, to, loops_.along_again, loops_.beside_again);
    }
    return loops_.finish(to, made.size(), found->terms, made.bytes().data());
  }

  // Returns nullopt for axes that break a rule.
  std::optional<Reduced> reduced(const RunState& state, const Shape& shape) const {
    const Index rank = shape.size();
    const Facts given = fact().attributes();
    IndexVector named;
    if (!axes_are_fed(given.signature())) {
      named = given.integers("axes");
    } else if (has_input(1)) {
      const std::optional<IndexVector> fed = list(state, 1);
      if (!fed || input(state, 1).shape().size() != 1) return std::nullopt;
      named = *fed;
    }
    const bool none = axes_are_fed(given.signature()) && given.integer("noop_with_empty_axes") != 0;
    IndexVector over(rank, named.empty() && !none ? 1 : 0);
    for (const Index axis : named) {
      const Index a = wrap(axis, rank);
      if (a < 0 || a >= rank || over[a] != 0) return std::nullopt;
      over[a] = 1;
    }
    Reduced made;
    const bool keeps = given.integer("keepdims", 1) != 0;
    IndexVector kept = shape;
    for (Index d = 0; d < rank; ++d) {
      if (over[d] != 0) {
        made.terms = multiply(made.terms, shape[d]);
        kept[d] = 1;
      }
      if (keeps || over[d] == 0) made.shape.push_back(kept[d]);
    }
    IndexVector by = dense_strides(kept);
    for (Index d = 0; d < rank; ++d) by[d] = over[d] != 0 ? 0 : by[d];
    if (count(shape) > 0) made.walk = collapse(shape, {dense_strides(shape), by});
    return made;
  }

  // Divides the first kept dimension among the threads, or the elements if there is none.
  void reduce(RunState& state, const Collapsed& walk, const Tensor& from, std::byte* to,
              ReduceRow along, ReduceRow beside) const {
    const Index rank = walk.extents.size(), bytes = bytes_of(from.type());
    const double cost = static_cast<double>(from.size()) * nanoseconds_a_term;
    const std::byte* const x = from.bytes().data();
    Index cut = 0;
    while (cut < rank && walk.strides[1][cut] == 0) ++cut;
    if (cut == rank && loops_.join == nullptr) return along(x, from.size(), to);
    if (cut == rank) return reduce_all(state, from, to);
    const Index extent = walk.extents[cut], step = ceil_div(extent, parts_for(state.pool.size()));
    state.each(ceil_div(extent, step), cost, [&](Index part, Index) {
      Collapsed some = walk;
      some.extents[cut] = std::min(step, extent - part * step);
      const Index first = part * step;
      const std::byte* const own = x + first * walk.strides[0][cut] * bytes;
      std::byte* const accumulators = to + first * walk.strides[1][cut] * loops_.bytes;
      const Index last = rank - 1, length = some.extents[last];
      const auto reduce_row = walk.strides[1][last] == 0 ? along : beside;
      each_outer(some, last, [&](const std::vector<Index>& at) {
        reduce_row(own + at[0] * bytes, length, accumulators + at[1] * loops_.bytes);
      });
    });
  }

  void reduce_all(RunState& state, const Tensor& from, std::byte* to) const {
    constexpr Index fewest = 16384;
    const Index all = from.size(), bytes = bytes_of(from.type());
    const Index parts = std::clamp<Index>(all / fewest, 1, parts_for(state.pool.size()));
    const Index step = ceil_div(all, parts);
    std::vector<std::byte> held(static_cast<std::size_t>(parts * loops_.bytes));
    loops_.start(held.data(), parts);
    state.each(parts, static_cast<double>(all) * nanoseconds_a_term, [&](Index part, Index) {
      const Index first = std::min(part * step, all);
      loops_.along(from.bytes().data() + first * bytes, std::min(step, all - first),
                   held.data() + part * loops_.bytes);
    });
    for (Index part = 0; part < parts; ++part) loops_.join(to, held.data() + part * loops_.bytes);
  }

  const ReductionLoops& loops_;
};

bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature& signature = *fact.node->signature;
  if (!signature.domain.empty() || fact.outputs.size() != 1 || fact.outputs[0] == no_value)
    return false;
  return reduction_loops(signature.op, element_of(graph, node, 0)) != nullptr;
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  auto made = std::make_unique<Reductions>(graph, node, std::move(buffers));
  made->kernel = "reduction " + std::string(graph.node(node).node->signature->op);
  made->kernel_class = KernelClass::reduce;
  return made;
}

}  // namespace

const KernelFamily reductions_family{"reductions", KernelClass::reduce, takes, step};

}  // namespace touchstone::optimized
