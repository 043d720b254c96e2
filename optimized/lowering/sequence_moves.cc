// Family `sequence moves`: SplitToSequence and ConcatFromSequence, a strided copy for each tensor
// of the sequence.
#include <cstring>

#include "core/budget.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/moves.h"

namespace touchstone::optimized {
namespace {

// A tensor as rows of `row` elements, of which a part along an axis is `own`, `start` from its
// left.
struct PartOfRows {
  Index outer, row, own, start;
};

class SequenceMoves : public Moves {
 protected:
  using Moves::Moves;

  Value& value(const RunState& state, Index of) const {
    return state.values[static_cast<std::size_t>(of)];
  }
  // Copies a part of rows to a tensor of its own, or from one.
  bool copy_part(RunState& state, const PartOfRows& part, const Tensor& from, Tensor& to,
                 bool taken) {
    const Shape box{part.outer, part.own};
    const Index bytes = bytes_of(from.type()), start = part.start * bytes;
    const std::byte* const source = from.bytes().data() + (taken ? start : 0);
    std::byte* const target = to.bytes().data() + (taken ? 0 : start);
    const Index all = count(box) * bytes;
    if (all == 0) return true;
    if (part.outer == 1 && all < most_at_once) {
      std::memcpy(target, source, static_cast<std::size_t>(all));
      return true;
    }
    if (last_ != box || row_ != part.row) {
      const IndexVector whole{part.row, 1}, own{part.own, 1};
      last_ = box, row_ = part.row;
      copy_ = copy_of_strides(box, taken ? whole : own, taken ? own : whole);
      if (copy_ && bytes == 16) copy_ = in_pairs(*copy_);
    }
    if (!copy_) return false;
    copy_in_parts(state, *copy_, std::min<Index>(bytes, 8), source, target);
    return true;
  }

 private:
  static constexpr Index most_at_once = 65536;  // bytes that one thread copies

  Shape last_;  // the box of the last copy
  Index row_ = 0;
  std::optional<StridedCopy> copy_;
};

class SplitToSequence : public SequenceMoves {
 public:
  using SequenceMoves::SequenceMoves;

 private:
  bool moved(RunState& state) override {
    const Tensor& from = input(state, 0);
    const Shape& shape = from.shape();
    const Index rank = shape.size(), axis = wrap(fact().attributes().integer("axis"), rank);
    if (axis < 0 || axis >= rank || !is_movable(from.type())) return false;
    const std::optional<IndexVector> lengths = lengths_of(state, shape[axis]);
    if (!lengths || lengths->size() > state.limits.loop_iterations) return false;
    const bool drops = !has_input(1) && fact().attributes().integer("keepdims", 1) == 0;
    const Index outer = count(head(shape, axis)), inner = count(tail(shape, axis + 1));
    charge_scratch(2 * lengths->size() * static_cast<Index>(sizeof(Value)));
    Sequence made{tensor_type(from.type()), {}};
    made.items.reserve(static_cast<std::size_t>(lengths->size()));
    Index start = 0;
    for (const Index length : *lengths) {
      Shape own = replaced(shape, axis, length);
      if (drops) own = join(head(shape, axis), tail(shape, axis + 1));
      Tensor part(from.type(), own, Storage::unfilled);
      charge_work(1 + part.size());
      if (!copy_part(state, {outer, shape[axis] * inner, length * inner, start * inner}, from, part,
                     true))
        return false;
      made.items.emplace_back(std::move(part));
      start += length;
    }
    value(state, fact().outputs[0]) = std::move(made);
    return true;
  }

  // Returns the length of each part, or nullopt if `split` breaks a rule.
  std::optional<IndexVector> lengths_of(const RunState& state, Index extent) const {
    if (!has_input(1)) return IndexVector(extent, 1);
    const std::optional<IndexVector> given = list(state, 1);
    if (!given) return std::nullopt;
    if (input(state, 1).shape().size() == 1) {
      Index sum = 0;
      for (const Index length : *given) {
        if (length < 0 || length > extent) return std::nullopt;
        sum = add(sum, length);
      }
      return sum == extent ? given : std::nullopt;
    }
    const Index each = (*given)[0];
    if (each <= 0) return std::nullopt;
    IndexVector made(ceil_div(extent, each), each);
    if (extent > 0) made[made.size() - 1] = extent - (made.size() - 1) * each;
    return made;
  }
};

class ConcatFromSequence : public SequenceMoves {
 public:
  using SequenceMoves::SequenceMoves;

 private:
  bool moved(RunState& state) override {
    const auto* const from = std::get_if<Sequence>(&value(state, fact().inputs[0]).is);
    if (from == nullptr || from->items.empty() || from->inner.kind != ValueType::Kind::tensor)
      return false;
    const Tensor& first = from->items[0].tensor();
    const bool adds = fact().attributes().integer("new_axis") != 0;
    const Index rank = first.shape().size() + (adds ? 1 : 0);
    const Index axis = wrap(fact().attributes().integer("axis"), rank);
    if (axis < 0 || axis >= rank || !is_movable(first.type())) return false;
    Index sum = 0;
    for (const Value& item : from->items) {
      const Shape& shape = item.tensor().shape();
      if (shape.size() != first.shape().size()) return false;
      const bool fits = shape == first.shape() ||
                        (!adds && replaced(shape, axis, first.shape()[axis]) == first.shape());
      if (!fits) return false;
      sum = add(sum, adds ? 1 : shape[axis]);
    }
    const Shape before = head(first.shape(), axis),
                after = tail(first.shape(), adds ? axis : axis + 1);
    Tensor& made = output(state, 0, first.type(), join(before, sum, after));
    const Index outer = count(before), inner = count(after);
    Index start = 0;
    for (const Value& item : from->items) {
      const Tensor& part = item.tensor();
      const Index own = adds ? inner : part.shape()[axis] * inner;
      if (!copy_part(state, {outer, sum * inner, own, start}, part, made, false)) return false;
      start += own;
    }
    return true;
  }
};

constexpr std::string_view splits = "SplitToSequence", concatenates = "ConcatFromSequence";

bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature& signature = *fact.node->signature;
  if (!signature.domain.empty() || fact.outputs.size() != 1 || fact.outputs[0] == no_value)
    return false;
  return signature.op == splits || signature.op == concatenates;
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  std::unique_ptr<Step> made;
  if (graph.node(node).node->signature->op == splits)
    made = std::make_unique<SplitToSequence>(graph, node, std::move(buffers));
  else
    made = std::make_unique<ConcatFromSequence>(graph, node, std::move(buffers));
  made->kernel = "sequence moves";
  made->kernel_class = KernelClass::copy;
  return made;
}

}  // namespace

const KernelFamily sequence_moves_family{"sequence moves", KernelClass::copy, takes, step};

}  // namespace touchstone::optimized
