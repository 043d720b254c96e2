// Steps of data movement: a base class that reads lists and copies strided boxes.
#pragma once

#include <algorithm>
#include <optional>

#include "optimized/kernels/strided_copy.h"
#include "optimized/lowering/lowering.h"
#include "optimized/plan/copies.h"
#include "reference/bind.h"
#include "reference/lists.h"

namespace touchstone::optimized {

// Box of elements that is copied, from element `from` on, to the output's element `to` on.
struct Moved {
  Shape extents;
  IndexVector by, to_by;  // strides
  Index from = 0, to = 0;
};

// Bytes of an element; 0 for a string.
inline Index bytes_of(Type type) {
  return type == Type::string || type == Type::undefined ? 0 : facts(type).bits / 8;
}

// Returns the copy with elements of 16 bytes as pairs of elements of 8, or nullopt if it has too
// many dimensions.
inline std::optional<StridedCopy> in_pairs(const StridedCopy& move) {
  constexpr std::size_t last = StridedCopy::rank - 1;
  if (move.extents[last] != 1) return std::nullopt;
  StridedCopy made;
  made.extents[0] = 2;
  made.source_strides[0] = made.target_strides[0] = 1;
  for (std::size_t d = 0; d < last; ++d) {
    made.extents[d + 1] = move.extents[d];
    made.source_strides[d + 1] = 2 * move.source_strides[d];
    made.target_strides[d + 1] = 2 * move.target_strides[d];
  }
  return made;
}

// Runs a copy of elements of 1, 2, 4 or 8 bytes, divided among the threads along its outermost
// dimension with an extent over 1.
inline void copy_in_parts(RunState& state, const StridedCopy& all, Index bytes,
                          const std::byte* from, std::byte* to) {
  std::size_t cut = StridedCopy::rank - 1;
  while (cut > 0 && all.extents[cut] == 1) --cut;
  const Index step = ceil_div(all.extents[cut], parts_for(state.pool.size()));
  const auto cost = static_cast<double>(all.elements()) * nanoseconds_an_element;
  state.each(ceil_div(all.extents[cut], step), cost, [&](Index part, Index) {
    StridedCopy some = all;
    some.extents[cut] = std::min(step, all.extents[cut] - part * step);
    some.whole = all.elements();
    run_strided_copy(chosen_isa(), some, static_cast<int>(bytes),
                     from + part * step * all.source_strides[cut] * bytes,
                     to + part * step * all.target_strides[cut] * bytes);
  });
}

class Moves : public TensorStep {
 public:
  using TensorStep::TensorStep;

  void run(RunState& state) override {
    next_ = 0;
    if (!moved(state)) run_on_reference(state);
  }

 protected:
  // Returns false for a call that the family does not compute; outputs may be written by then.
  virtual bool moved(RunState& state) = 0;

  std::optional<IndexVector> list(const RunState& state, std::size_t k) const {
    const Tensor& from = input(state, k);
    if (from.shape().size() > 1) return std::nullopt;
    IndexVector made(from.size(), 0);
    for (Index i = 0; i < from.size(); ++i) {
      if (from.type() == Type::int64) {
        made[i] = from.data<std::int64_t>()[i];
      } else if (from.type() == Type::int32) {
        made[i] = from.data<std::int32_t>()[i];
      } else {
        return std::nullopt;
      }
    }
    return made;
  }

  // Calls work(first, end) for ranges of units of so many nanoseconds, on all threads.
  template <class F>
  static void in_ranges(RunState& state, Index units, double nanoseconds, F work) {
    const Index parts = std::min(units, parts_for(state.pool.size()));
    state.each(parts, nanoseconds * static_cast<double>(units),
               [&](Index part, Index) { work(units * part / parts, units * (part + 1) / parts); });
  }

  // Copies a box, divided among the threads along its outermost dimension.
  bool copy(RunState& state, const Moved& box, const Tensor& from, Tensor& to) {
    if (count(box.extents) == 0) return true;
    const std::optional<StridedCopy>& found = copy_of(box);
    if (!found) return false;
    const Index bytes = bytes_of(from.type());
    const std::byte* const source = from.bytes().data() + box.from * bytes;
    std::byte* const target = to.bytes().data() + box.to * bytes;
    if (bytes == 16) {
      const std::optional<StridedCopy> pairs = in_pairs(*found);
      if (!pairs) return false;
      copy_in_parts(state, *pairs, 8, source, target);
    } else {
      copy_in_parts(state, *found, bytes, source, target);
    }
    return true;
  }

 private:
  struct Known {
    Moved box;
    std::optional<StridedCopy> copy;
  };

  // Keeps the copies of the last run, since most runs repeat them.
  const std::optional<StridedCopy>& copy_of(const Moved& box) {
    if (next_ == known_.size()) known_.emplace_back();
    Known& known = known_[next_++];
    const Moved& last = known.box;
    if (!known.copy || last.extents != box.extents || last.by != box.by || last.to_by != box.to_by)
      known = {box, copy_of_strides(box.extents, box.by, box.to_by)};
    return known.copy;
  }

  std::vector<Known> known_;
  std::size_t next_ = 0;  // copy of this run
};

// True for elements of 1, 2, 4, 8 or 16 bytes, each with its own address.
inline bool is_movable(Type type) { return bytes_of(type) > 0 && !is_packed(type); }

// Returns the element type of a tensor, else Type::undefined. The type that a cast names is known
// without its shape.
Type element_type(const AnalyzedGraph& graph, Index value);

// Returns the element type of a node's input if it is a tensor, else Type::undefined.
inline Type element_of(const AnalyzedGraph& graph, Index node, std::size_t k) {
  const std::vector<Index>& inputs = graph.node(node).inputs;
  return k < inputs.size() ? element_type(graph, inputs[k]) : Type::undefined;
}

// Calls f<T>() with a type of 1, 2, 4, 8 or 16 bytes.
template <class F>
void with_sized_bytes(Index bytes, F f) {
  if (bytes == 1) return f.template operator()<std::uint8_t>();
  if (bytes == 2) return f.template operator()<std::uint16_t>();
  if (bytes == 4) return f.template operator()<std::uint32_t>();
  if (bytes == 8) return f.template operator()<std::uint64_t>();
  f.template operator()<Pair64>();
}
// With one of as many bytes as a movable element has.
template <class F>
void with_sized(Type type, F f) {
  with_sized_bytes(bytes_of(type), f);
}

}  // namespace touchstone::optimized
