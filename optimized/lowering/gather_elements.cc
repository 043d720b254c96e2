// Family `gather elements`: elements at fed indices along one axis.
#include <atomic>

#include "optimized/lowering/families.h"
#include "optimized/lowering/moves.h"
#include "optimized/plan/groups.h"

namespace touchstone::optimized {
namespace {

// Elements of each part: at least as many as pay for waking a thread.
constexpr Index fewest = 4096;
constexpr double nanoseconds_an_index = 1;

class GatherElements : public Moves {
 public:
  using Moves::Moves;

 private:
  bool moved(RunState& state) override {
    const Type type = input(state, 1).type();
    return type == Type::int64 ? gathered<std::int64_t>(state) : gathered<std::int32_t>(state);
  }

  template <class I>
  bool gathered(RunState& state) {
    const Tensor &data = input(state, 0), &indices = input(state, 1);
    const Shape &from = data.shape(), &shape = indices.shape();
    const Index rank = from.size(), axis = wrap(fact().attributes().integer("axis"), rank);
    if (rank == 0 || shape.size() != rank || axis < 0 || axis >= rank) return false;
    for (Index d = 0; d < rank; ++d) {
      if (d != axis && shape[d] > from[d]) return false;
    }
    const bool inside = is_inside(state, indices.data<I>(), indices.size(), from[axis]);
    if (!inside) return false;
    Tensor& made = output(state, 0, data.type(), shape);
    if (made.size() == 0) return true;
    const IndexVector strides = dense_strides(from);
    with_sized(data.type(), [&]<class T>() {
      parts(state, indices.size(), [&](Index first, Index end) {
        take(data.data<T>(), indices.data<I>(), made.data<T>(), shape, strides, from[axis], axis,
             first, end);
      });
    });
    return true;
  }

  // Calls work(first, end) for ranges of elements, on all threads.
  template <class F>
  static void parts(RunState& state, Index all, F work) {
    const Index step = std::max(ceil_div(all, parts_for(state.pool.size())), fewest);
    const double cost = static_cast<double>(all) * nanoseconds_an_index;
    state.each(ceil_div(all, step), cost,
               [&](Index part, Index) { work(part * step, std::min((part + 1) * step, all)); });
  }

  // True if every index lies in -extent .. extent - 1.
  template <class I>
  static bool is_inside(RunState& state, const I* at, Index all, Index extent) {
    std::atomic<bool> inside = true;
    parts(state, all, [&](Index first, Index end) {
      const auto half = static_cast<std::uint64_t>(extent);
      bool fine = true;
      for (Index k = first; k < end; ++k)
        fine &= static_cast<std::uint64_t>(static_cast<Index>(at[k])) + half < 2 * half;
      if (!fine) inside = false;
    });
    return inside;
  }

  // Writes elements first .. end - 1, row after row of the output.
  template <class T, class I>
  static void take(const T* from, const I* at, T* to, const Shape& shape,
                   const IndexVector& strides, Index extent, Index axis, Index first, Index end) {
    const Index last = shape.size() - 1, length = shape[last];
    const Index by = strides[axis], along = axis == last ? 0 : 1;
    IndexVector point(last, 0);  // of the row
    Index base = 0, x = first % length;
    for (Index d = last - 1, rest = first / length; d >= 0; --d) {
      point[d] = rest % shape[d];
      rest /= shape[d];
      if (d != axis) base += point[d] * strides[d];
    }
    for (Index k = first; k < end;) {
      const T* const row = from + base;
      const Index stop = std::min(end, k + length - x);
      for (; k < stop; ++k, ++x) {
        Index index = at[k];
        index += index < 0 ? extent : 0;
        to[k] = row[index * by + x * along];
      }
      x = 0;
      for (Index d = last - 1; d >= 0; --d) {
        const Index stride = d == axis ? 0 : strides[d];
        base += stride;
        if (++point[d] < shape[d]) break;
        base -= point[d] * stride;
        point[d] = 0;
      }
    }
  }
};

// Movement that only constants and shapes control is planned as a whole.
bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature& signature = *fact.node->signature;
  if (!signature.domain.empty() || signature.op != "GatherElements") return false;
  if (fact.outputs.size() != 1 || fact.outputs[0] == no_value) return false;
  const Type indices = element_of(graph, node, 1);
  return is_movable(element_of(graph, node, 0)) &&
         (indices == Type::int64 || indices == Type::int32) && !is_data_movement(graph, node);
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  auto made = std::make_unique<GatherElements>(graph, node, std::move(buffers));
  made->kernel = "gather elements";
  made->kernel_class = KernelClass::copy;
  return made;
}

}  // namespace

const KernelFamily gather_elements_family{"gather elements", KernelClass::copy, takes, step};

}  // namespace touchstone::optimized
