// Family `moves`: data movement of elements of one to sixteen bytes, by indices and bounds that may
// be unknown before the run. Strided copies, and rows that are gathered.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "optimized/lowering/families.h"
#include "optimized/lowering/moves.h"
#include "optimized/plan/groups.h"
#include "optimized/problems/collapse.h"

namespace touchstone::optimized {
namespace {

class Expand : public Moves {
  using Moves::Moves;
  bool moved(RunState& state) override {
    const Tensor& from = input(state, 0);
    const std::optional<IndexVector> asked = list(state, 1);
    if (!asked || input(state, 1).shape().size() != 1) return false;
    for (const Index size : *asked) {
      if (size < 0) return false;
    }
    if (!broadcastable(from.shape(), *asked)) return false;
    const Shape shape = broadcast(from.shape(), *asked);
    const IndexVector by =
        broadcast_strides(from.shape(), shape.size(), shape.size() - from.shape().size());
    Tensor& made = output(state, 0, from.type(), shape);
    return copy(state, {shape, by, dense_strides(shape)}, from, made);
  }
};

class Transpose : public Moves {
  using Moves::Moves;
  bool moved(RunState& state) override {
    const Tensor& from = input(state, 0);
    const Index rank = from.shape().size();
    const Facts attributes = fact().attributes();
    IndexVector order;
    for (Index d = 0; d < rank; ++d) order.push_back(rank - 1 - d);
    if (attributes.given("perm")) order = attributes.integers("perm");
    if (order.size() != rank || !is_permutation(order)) return false;
    const IndexVector dense = dense_strides(from.shape());
    const Shape shape = pick(from.shape(), order);
    Tensor& made = output(state, 0, from.type(), shape);
    return copy(state, {shape, pick(dense, order), dense_strides(shape)}, from, made);
  }
};

class Slice : public Moves {
  using Moves::Moves;
  bool moved(RunState& state) override {
    const Tensor& from = input(state, 0);
    const Shape& shape = from.shape();
    const Index rank = shape.size();
    const std::optional<IndexVector> starts = list(state, 1), ends = list(state, 2);
    if (!starts || !ends) return false;
    IndexVector named, steps(starts->size(), 1);
    for (Index k = 0; k < starts->size(); ++k) named.push_back(k);
    if (has_input(3)) {
      const std::optional<IndexVector> axes = list(state, 3);
      if (!axes) return false;
      named = *axes;
    }
    if (has_input(4)) {
      const std::optional<IndexVector> given = list(state, 4);
      if (!given) return false;
      steps = *given;
    }
    if (ends->size() != starts->size() || named.size() != starts->size() ||
        steps.size() != starts->size())
      return false;
    constexpr int wraps_axes = 11;
    Moved box;
    box.extents = shape;
    box.by = dense_strides(shape);
    IndexVector seen(rank, 0);
    for (Index k = 0; k < named.size(); ++k) {
      const Index axis =
          fact().node->signature->since >= wraps_axes ? wrap(named[k], rank) : named[k];
      if (axis < 0 || axis >= rank || seen[axis] != 0 || steps[k] == 0) return false;
      seen[axis] = 1;
      const Index extent = shape[axis], back = steps[k] < 0 ? 1 : 0;
      // The upper bound, applied last, is -1 on an empty axis with a negative step.
      const Index first = std::min(std::max<Index>(wrap((*starts)[k], extent), 0), extent - back);
      const Index last = std::min(std::max<Index>(wrap((*ends)[k], extent), -back), extent - back);
      const Index size = std::max<Index>(ceil_div(last - first, steps[k]), 0);
      box.from += size > 0 ? first * box.by[axis] : 0;
      box.by[axis] = size > 1 ? steps[k] * box.by[axis] : 0;
      box.extents[axis] = size;
    }
    box.to_by = dense_strides(box.extents);
    Tensor& made = output(state, 0, from.type(), box.extents);
    return copy(state, box, from, made);
  }
};

class Concat : public Moves {
  using Moves::Moves;
  bool moved(RunState& state) override {
    Shape shape = input(state, 0).shape();
    const Index rank = shape.size(), axis = wrap(fact().attributes().integer("axis"), rank);
    if (axis < 0 || axis >= rank) return false;
    shape[axis] = 0;
    for (std::size_t k = 0; k < fact().inputs.size(); ++k) {
      const Shape& part = input(state, k).shape();
      if (part.size() != rank) return false;
      for (Index d = 0; d < rank; ++d) {
        if (d != axis && part[d] != shape[d]) return false;
      }
      shape[axis] = add(shape[axis], part[axis]);
    }
    Tensor& made = output(state, 0, input(state, 0).type(), shape);
    if (count(shape) == 0) return true;
    const Index outer = count(head(shape, axis)), row = count(tail(shape, axis));
    Index to = 0;
    for (std::size_t k = 0; k < fact().inputs.size(); ++k) {
      const Tensor& part = input(state, k);
      const Index own = count(tail(part.shape(), axis));
      if (!copy(state, {{outer, own}, {own, 1}, {row, 1}, 0, to}, part, made)) return false;
      to += own;
    }
    return true;
  }
};

class Tile : public Moves {
  using Moves::Moves;
  bool moved(RunState& state) override {
    const Tensor& from = input(state, 0);
    const std::optional<IndexVector> times = list(state, 1);
    if (!times || input(state, 1).shape().size() != 1 || times->size() != from.shape().size())
      return false;
    Shape shape, extents;
    IndexVector by;
    const IndexVector dense = dense_strides(from.shape());
    if (std::any_of(times->begin(), times->end(), [](Index count) { return count < 0; }))
      return false;
    for (Index d = 0; d < times->size(); ++d) {
      shape.push_back(multiply(from.shape()[d], (*times)[d]));
      extents.push_back((*times)[d]);
      extents.push_back(from.shape()[d]);
      by.push_back(0);
      by.push_back(dense[d]);
    }
    Tensor& made = output(state, 0, from.type(), shape);
    if (count(shape) == 0) return true;
    return copy(state, {extents, by, dense_strides(extents)}, from, made);
  }
};

// DepthToSpace and SpaceToDepth: one copy an image, whose dimensions split channels, rows and
// columns by blocks of pixels.
class PixelBlocks : public Moves {
  using Moves::Moves;
  bool moved(RunState& state) override {
    const Tensor& from = input(state, 0);
    const Shape& x = from.shape();
    const Facts attributes = fact().attributes();
    const Index side = attributes.integer("blocksize");
    const std::string mode = attributes.text("mode", "DCR");
    const bool last = mode == "CRD";  // the pixel of a block is a channel's last digit
    if (x.size() != 4 || side < 1 || side > most_pixels || (!last && mode != "DCR")) return false;
    const bool spreads = fact().node->signature->op == "DepthToSpace";
    const Index pixels = side * side, channels = x[1], plane = multiply(x[2], x[3]);
    Moved box;
    Shape shape;
    if (spreads) {
      if (channels % pixels != 0) return false;
      const Index depth = channels / pixels, pixel = last ? plane : depth * plane;
      shape = {x[0], depth, multiply(x[2], side), multiply(x[3], side)};
      box.extents = {depth, x[2], side, x[3], side};
      box.by = {last ? pixels * plane : plane, x[3], side * pixel, 1, pixel};
    } else {
      if (x[2] % side != 0 || x[3] % side != 0) return false;
      shape = {x[0], multiply(channels, pixels), x[2] / side, x[3] / side};
      box.extents = {side, side, channels, shape[2], shape[3]};
      box.by = {x[3], 1, plane, side * x[3], side};
      if (last) {
        box.extents = {channels, side, side, shape[2], shape[3]};
        box.by = {plane, x[3], 1, side * x[3], side};
      }
    }
    box.to_by = dense_strides(box.extents);
    Tensor& made = output(state, 0, from.type(), shape);
    if (made.size() == 0) return true;
    for (Index image = 0; image < x[0]; ++image) {
      box.from = box.to = image * channels * plane;
      if (!copy(state, box, from, made)) return false;
    }
    return true;
  }

  static constexpr Index most_pixels = Index{1} << 15;  // along a side, whose square fits an int
};

class Gather : public Moves {
  using Moves::Moves;
  bool moved(RunState& state) override {
    const Tensor &data = input(state, 0), &indices = input(state, 1);
    const Index rank = data.shape().size();
    const Index axis = wrap(axis_, rank);
    if (axis < 0 || axis >= rank) return false;
    if (indices.type() == Type::int64) return gathered<std::int64_t>(state, data, indices, axis);
    if (indices.type() == Type::int32) return gathered<std::int32_t>(state, data, indices, axis);
    return false;
  }

  template <class T>
  bool gathered(RunState& state, const Tensor& data, const Tensor& indices, Index axis) {
    const Shape& shape = data.shape();
    const Index extent = shape[axis], rows = indices.size();
    const T* const at = indices.data<T>();
    Tensor& made = output(state, 0, data.type(),
                          join(head(shape, axis), indices.shape(), tail(shape, axis + 1)));
    if (made.size() == 0) return true;
    std::atomic<bool> inside = true;
    const Index row = count(tail(shape, axis + 1)) * bytes_of(data.type());
    const Index all = count(head(shape, axis)) * rows;
    const double cost = static_cast<double>(made.bytes().size()) / 4 * nanoseconds_an_element;
    const Index step = std::max<Index>(ceil_div(all, state.parts(cost)), 1);
    const std::byte* const from = data.bytes().data();
    std::byte* const to = made.bytes().data();
    state.each(ceil_div(all, step), cost, [&](Index part, Index) {
      const Index first = part * step, end = std::min(first + step, all);
      bool fine = false;
      switch (row) {
        case 1:
          fine = copy_rows<T, 1>(from, to, at, first, end, rows, extent, row);
          break;
        case 2:
          fine = copy_rows<T, 2>(from, to, at, first, end, rows, extent, row);
          break;
        case 4:
          fine = copy_rows<T, 4>(from, to, at, first, end, rows, extent, row);
          break;
        case 8:
          fine = copy_rows<T, 8>(from, to, at, first, end, rows, extent, row);
          break;
        case 16:
          fine = copy_rows<T, 16>(from, to, at, first, end, rows, extent, row);
          break;
        default:
          fine = copy_rows<T, 0>(from, to, at, first, end, rows, extent, row);
      }
      if (!fine) inside = false;
    });
    return inside;
  }

  const Index axis_ = fact().attributes().integer("axis");

  // Copies rows first .. end - 1; `own`: bytes of a row if they are known to the compiler, else 0.
  // Returns false if an index is out of range.
  template <class T, Index own>
  static bool copy_rows(const std::byte* from, std::byte* to, const T* at, Index first, Index end,
                        Index rows, Index extent, Index row) {
    const Index bytes = own > 0 ? own : row;
    Index outer = first / rows, k = first % rows;
    for (Index r = first; r < end; ++r) {
      Index index = at[k];
      if (index < 0) index += extent;
      if (index < 0 || index >= extent) return false;
      std::memcpy(to + r * bytes, from + (outer * extent + index) * bytes,
                  static_cast<std::size_t>(bytes));
      if (++k == rows) k = 0, ++outer;
    }
    return true;
  }
};

struct Row {
  std::string_view op;
  int since;  // the first version whose options the step knows
  std::size_t inputs;
  MakeStep make;
};
constexpr Row moves[] = {
    {"Concat", 4, 1, make_step<Concat>}, {"DepthToSpace", 1, 1, make_step<PixelBlocks>},
    {"Expand", 8, 2, make_step<Expand>}, {"Gather", 1, 2, make_step<Gather>},
    {"Slice", 10, 3, make_step<Slice>},  {"SpaceToDepth", 1, 1, make_step<PixelBlocks>},
    {"Tile", 6, 2, make_step<Tile>},     {"Transpose", 1, 1, make_step<Transpose>},
};

const Row* row_of(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature& signature = *fact.node->signature;
  if (!signature.domain.empty() || fact.outputs.size() != 1 || fact.outputs[0] == no_value)
    return nullptr;
  for (const Row& row : moves) {
    if (row.op != signature.op || signature.since < row.since || fact.inputs.size() < row.inputs)
      continue;
    const bool whole = row.op == "Concat";
    for (std::size_t k = 0; k < (whole ? fact.inputs.size() : row.inputs); ++k) {
      if (fact.inputs[k] == no_value) return nullptr;
      const std::optional<ValueType>& type = graph.value(fact.inputs[k]).type;
      if (!type || type->kind != ValueType::Kind::tensor) return nullptr;
      if (!is_movable(type->element)) return nullptr;
    }
    return &row;
  }
  return nullptr;
}

// Small moves that only constants and shapes control are planned as a whole.
bool takes(const AnalyzedGraph& graph, Index node) {
  return row_of(graph, node) != nullptr && !is_data_movement(graph, node);
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  const Row& row = *row_of(graph, node);
  std::unique_ptr<Step> made = row.make(graph, node, std::move(buffers));
  made->kernel = "moves " + std::string(row.op);
  made->kernel_class = KernelClass::copy;
  return made;
}

}  // namespace

const KernelFamily moves_family{"moves", KernelClass::copy, takes, step};

}  // namespace touchstone::optimized
