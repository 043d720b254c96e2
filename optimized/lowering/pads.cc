// Family `pads`: Pad and CenterCropPad of elements of any type, by fed numbers or attributes.
#include <algorithm>
#include <cstring>
#include <string>

#include "core/numbers/convert.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/moves.h"
#include "optimized/plan/groups.h"

namespace touchstone::optimized {
namespace {

constexpr int cuts_off = 2, feeds_pads = 11, feeds_axes = 18, wraps = 19;

// Elements to add before and after each dimension; negative to remove.
struct Padding {
  IndexVector before, after;
};

class Pad : public Moves {
 public:
  Pad(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : Moves(graph, node, std::move(buffers)),
        mode_(fact().attributes().text("mode", "constant")) {}

 protected:
  // Returns nullopt for numbers that break a rule.
  virtual std::optional<Padding> padding(const RunState& state, const Shape& shape) const {
    const Index rank = shape.size();
    const std::optional<IndexVector> pads = list(state, 1);
    if (!pads || input(state, 1).shape().size() != 1) return std::nullopt;
    IndexVector named;
    for (Index d = 0; d < rank; ++d) named.push_back(d);
    if (has_input(3)) {
      const std::optional<IndexVector> axes = list(state, 3);
      if (!axes || fact().node->signature->since < feeds_axes) return std::nullopt;
      named = *axes;
    }
    if (pads->size() != 2 * named.size() || !are_axes(named, rank)) return std::nullopt;
    Padding made{IndexVector(rank, 0), IndexVector(rank, 0)};
    for (Index k = 0; k < named.size(); ++k) {
      made.before[wrap(named[k], rank)] = (*pads)[k];
      made.after[wrap(named[k], rank)] = (*pads)[named.size() + k];
    }
    return made;
  }

  // Returns a tensor whose first element is that of new places; null: zero.
  virtual const Tensor* filler(const RunState& state, Type) {
    return has_input(2) ? &input(state, 2) : nullptr;
  }

  // True for different axes within the rank.
  static bool are_axes(const IndexVector& named, Index rank) {
    const IndexVector axes = wrap(named, rank);
    return distinct(axes) && std::all_of(axes.begin(), axes.end(),
                                         [&](Index axis) { return axis >= 0 && axis < rank; });
  }

 private:
  bool moved(RunState& state) override {
    const Tensor& from = input(state, 0);
    const Index rank = from.shape().size();
    const std::optional<Padding> pads = padding(state, from.shape());
    if (!pads) return false;
    Shape shape;
    for (Index d = 0; d < rank; ++d) {
      const Index size = add(add(from.shape()[d], pads->before[d]), pads->after[d]);
      if (size < 0) return false;
      shape.push_back(size);
    }
    if (mode_ != "constant") return repeated(state, from, shape, *pads);
    if (has_input(2) && input(state, 2).size() != 1) return false;
    Tensor& made = output(state, 0, from.type(), shape);
    if (made.size() == 0) return true;
    Moved box;
    box.by = dense_strides(from.shape());
    box.to_by = dense_strides(shape);
    IndexVector places;  // of the box, along each dimension of the output
    for (Index d = 0; d < rank; ++d) {
      const Index origin = subtract(Index{0}, pads->before[d]);
      const Index first = std::max<Index>(origin, 0);  // that is kept
      const Index last = std::min(from.shape()[d], add(shape[d], origin));
      box.extents.push_back(std::max<Index>(last - first, 0));
      box.from += first * box.by[d];
      places.push_back(first - origin);
      box.to += places[d] * box.to_by[d];
    }
    if (box.extents != shape) fill_around(state, made, box.extents, places);
    return copy(state, box, from, made);
  }

  // Fills what is outside of a box: whole rows, or the ends of rows. Dimensions that the box fills
  // are a part of the row.
  void fill_around(RunState& state, Tensor& made, Shape box, IndexVector places) {
    const Tensor* const of = filler(state, made.type());
    Shape shape = made.shape();
    while (shape.size() > 1 && box.back() == shape.back()) {
      const Index within = shape.back();
      for (IndexVector* const list : {&shape, &box, &places}) {
        list->pop_back();
        (*list)[list->size() - 1] *= within;
      }
    }
    const Index last = shape.size() - 1, length = shape[last], rows = made.size() / length;
    const Index before = places[last], after = before + box[last];
    with_sized(made.type(), [&]<class T>() {
      const T value = of != nullptr ? of->data<T>()[0] : T{};
      in_ranges(state, rows, static_cast<double>(length) * nanoseconds_an_element,
                [&](Index first, Index end) {
                  for (Index row = first; row < end; ++row) {
                    bool inside = count(box) > 0;
                    for (Index d = last - 1, rest = row; inside && d >= 0; rest /= shape[d], --d) {
                      const Index at = rest % shape[d] - places[d];
                      inside = at >= 0 && at < box[d];
                    }
                    T* const y = made.data<T>() + row * length;
                    std::fill(y, y + (inside ? before : length), value);
                    if (inside) std::fill(y + after, y + length, value);
                  }
                });
    });
  }

  // Reads every row through tables of source positions, one for each dimension.
  bool repeated(RunState& state, const Tensor& from, const Shape& shape, const Padding& pads) {
    const Index rank = shape.size();
    if (rank == 0 || (mode_ == "wrap" && fact().node->signature->since < wraps)) return false;
    if (mode_ != "wrap" && mode_ != "edge" && mode_ != "reflect") return false;
    for (Index d = 0; d < rank; ++d) {
      if (from.shape()[d] == 0 && shape[d] > 0) return false;
    }
    Tensor& made = output(state, 0, from.type(), shape);
    if (made.size() == 0) return true;
    std::vector<IndexVector> tables;
    const IndexVector strides = dense_strides(from.shape());
    for (Index d = 0; d < rank; ++d) {
      const Index extent = from.shape()[d];
      IndexVector& table = tables.emplace_back(shape[d], 0);
      for (Index k = 0; k < shape[d]; ++k) {
        const Index at = subtract(k, pads.before[d]);
        const Index source = mode_ == "edge"   ? std::clamp<Index>(at, 0, extent - 1)
                             : mode_ == "wrap" ? mod(at, extent)
                                               : reflect(at, extent);
        if (source < 0 || source >= extent) return false;
        table[k] = source * strides[d];
      }
    }
    const IndexVector& last = tables.back();
    const Index length = shape[rank - 1], rows = made.size() / length;
    // Elements first .. end - 1 of a row are contiguous in the input.
    Index first = 0, end = 1;
    const Index middle = std::clamp<Index>(pads.before[rank - 1], 0, length - 1);
    for (first = middle, end = middle + 1; end < length && last[end] == last[end - 1] + 1;) ++end;
    const Index step = ceil_div(rows, parts_for(state.pool.size()));
    const double cost = static_cast<double>(made.size()) * nanoseconds_an_element;
    with_sized(from.type(), [&]<class T>() {
      state.each(ceil_div(rows, step), cost, [&](Index part, Index) {
        for (Index row = part * step; row < std::min((part + 1) * step, rows); ++row) {
          const T* x = from.data<T>();
          for (Index d = rank - 2, rest = row; d >= 0; rest /= shape[d], --d)
            x += tables[static_cast<std::size_t>(d)][rest % shape[d]];
          T* const y = made.data<T>() + row * length;
          for (Index k = 0; k < first; ++k) y[k] = x[last[k]];
          std::copy_n(x + last[first], end - first, y + first);
          for (Index k = end; k < length; ++k) y[k] = x[last[k]];
        }
      });
    });
    return true;
  }

  const std::string mode_;
};

// Pad of versions 1 and 2, whose numbers and value are attributes.
class PadByAttributes : public Pad {
 public:
  using Pad::Pad;

 private:
  std::optional<Padding> padding(const RunState&, const Shape& shape) const override {
    const bool cuts = fact().node->signature->since >= cuts_off;
    const IndexVector pads = fact().attributes().integers(cuts ? "pads" : "paddings");
    const Index rank = shape.size();
    if (pads.size() != 2 * rank) return std::nullopt;
    if (!cuts && std::any_of(pads.begin(), pads.end(), [](Index pad) { return pad < 0; }))
      return std::nullopt;
    return Padding{head(pads, rank), tail(pads, rank)};
  }

  const Tensor* filler(const RunState&, Type type) override {
    value_ = Tensor(type, {});
    set_number(value_, 0, static_cast<long double>(fact().attributes().number("value")));
    return &value_;
  }

  Tensor value_;
};

// Crops or pads both sides alike; an odd element is at the end.
class CenterCropPad : public Pad {
 public:
  using Pad::Pad;

 private:
  std::optional<Padding> padding(const RunState& state, const Shape& shape) const override {
    const Index rank = shape.size();
    const std::optional<IndexVector> asked = list(state, 1);
    const Facts given = fact().attributes();
    IndexVector named = given.integers("axes");
    if (!given.given("axes")) {
      for (Index d = 0; d < rank; ++d) named.push_back(d);
    }
    if (!asked || input(state, 1).shape().size() != 1 || asked->size() != named.size() ||
        !are_axes(named, rank))
      return std::nullopt;
    Padding made{IndexVector(rank, 0), IndexVector(rank, 0)};
    for (Index k = 0; k < named.size(); ++k) {
      const Index axis = wrap(named[k], rank), size = (*asked)[k];
      if (size < 0) return std::nullopt;
      made.before[axis] = subtract(Index{0}, quotient(subtract(shape[axis], size), 2));
      made.after[axis] = subtract(subtract(size, shape[axis]), made.before[axis]);
    }
    return made;
  }
};

bool is_center(const AnalyzedGraph& graph, Index node) {
  return graph.node(node).node->signature->op == "CenterCropPad";
}

bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature& signature = *fact.node->signature;
  const bool pads = signature.op == "Pad";
  if (!signature.domain.empty() || (!pads && !is_center(graph, node)) || fact.outputs.size() != 1 ||
      fact.outputs[0] == no_value)
    return false;
  // A plan of a copy has no value but zero for new places, and writes them all first. It lists the
  // elements of a repeating mode one by one.
  const Facts given = fact.attributes();
  const bool fills = pads && signature.since < feeds_pads && given.number("value") != 0;
  const std::optional<Shape>& made = graph.value(fact.outputs[0]).shape;
  const bool repeats =
      pads && ((made && count(*made) > max_probed) || given.text("mode", "constant") != "constant");
  return is_movable(element_of(graph, node, 0)) &&
         (fills || repeats || !is_movement_of_any_type(graph, node));
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  std::unique_ptr<Step> made;
  if (is_center(graph, node))
    made = std::make_unique<CenterCropPad>(graph, node, std::move(buffers));
  else if (graph.node(node).node->signature->since < feeds_pads)
    made = std::make_unique<PadByAttributes>(graph, node, std::move(buffers));
  else
    made = std::make_unique<Pad>(graph, node, std::move(buffers));
  made->kernel = "pads";
  made->kernel_class = KernelClass::copy;
  return made;
}

}  // namespace

const KernelFamily pads_family{"pads", KernelClass::copy, takes, step};

}  // namespace touchstone::optimized
