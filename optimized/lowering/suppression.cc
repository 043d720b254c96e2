// NonMaxSuppression: the boxes of each class in a heap by score, compared with those selected.
#include <algorithm>
#include <cmath>

#include "core/budget.h"
#include "core/checked.h"
#include "optimized/kernels/overlaps.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/ranks.h"
#include "optimized/registry/isa.h"
#include "reference/lists.h"
#include "reference/structural/suppression.h"

namespace touchstone::optimized {
namespace {

using structural::Suppression;
using Rectangle = structural::Rectangle<float>;

OverlapKernel overlaps_of(Isa isa) { return BY_ISA(isa, overlaps); }

constexpr Index most_boxes = Index{1} << 31;
constexpr Index most_chosen = Index{1} << 26;  // in memory set aside for all classes

class Suppress : public TensorStep {
 public:
  Suppress(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : TensorStep(graph, node, std::move(buffers)) {
    kernel = "non-max suppression";
    kernel_class = KernelClass::copy;
  }

  void run(RunState& state) override {
    if (!fits(state)) return run_on_reference(state);
    std::vector<Value> inputs;
    for (std::size_t k = 0; k < fact().inputs.size(); ++k)
      inputs.push_back(has_input(k) ? Value(input(state, k)) : Value());
    const Suppression s(fact().attributes(), inputs);
    if (s.boxes == 0 || s.most <= 0) {
      output(state, 0, Type::int64, Shape{0, 3});
      return;
    }
    const Index lists = multiply(s.batches, s.classes),
                most = std::clamp<Index>(s.most, 0, s.boxes);
    if (s.batches > 0 && lists > most_chosen / (most + 1)) return run_on_reference(state);
    // Rectangles of all boxes; for each list its length and boxes; for each part or thread a heap,
    // and planes of the boxes that it selected.
    constexpr Index floats = sizeof(Rectangle) / sizeof(float);
    Tensor rectangles(Type::float32, Shape{s.batches, s.boxes, floats});
    Tensor chosen(Type::int32, Shape{lists, most + 1});
    const Index slots = std::min(lists, state.pool.size());
    Tensor heaps(Type::uint64, Shape{slots, s.boxes});
    const Index plane = ceil_div(most, boxes_at_once) * boxes_at_once;
    Tensor planes(Type::float32, Shape{slots, box_floats, plane});
    auto* const rectangle = reinterpret_cast<Rectangle*>(rectangles.data<float>());
    for (Index k = 0; k < s.batches * s.boxes; ++k)
      rectangle[k] = structural::rectangle<float>(s.corners + 4 * k, s.centered);
    const double work = static_cast<double>(lists) * static_cast<double>(s.boxes) * 4;
    state.each(lists, work, [&](Index list, Index thread) {
      const Index slot = slots == lists ? list : thread;
      select(s, list, most, rectangle + list / s.classes * s.boxes,
             heaps.data<std::uint64_t>() + slot * s.boxes,
             planes.data<float>() + slot * box_floats * plane, plane,
             chosen.data<std::int32_t>() + list * (most + 1));
    });
    Index found = 0;
    for (Index list = 0; list < lists; ++list)
      found += chosen.data<std::int32_t>()[list * (most + 1)];
    auto* to = output(state, 0, Type::int64, Shape{found, 3}).data<std::int64_t>();
    for (Index list = 0; list < lists; ++list) {
      const std::int32_t* const boxes = chosen.data<std::int32_t>() + list * (most + 1);
      for (Index k = 1; k <= boxes[0]; ++k)
        *to++ = list / s.classes, *to++ = list % s.classes, *to++ = boxes[k];
    }
  }

 private:
  bool fits(const RunState& state) const {
    const Tensor &boxes = input(state, 0), &scores = input(state, 1);
    const Shape &b = boxes.shape(), &s = scores.shape();
    if (boxes.type() != Type::float32 || scores.type() != Type::float32) return false;
    if (b.size() != 3 || s.size() != 3 || b[2] != 4 || b[0] != s[0] || b[1] != s[2]) return false;
    if (b[1] >= most_boxes) return false;
    const Index center = fact().attributes().integer("center_point_box");
    if (center != 0 && center != 1) return false;
    for (const std::size_t k : {std::size_t{2}, std::size_t{3}, std::size_t{4}}) {
      if (has_input(k) && input(state, k).size() != 1) return false;
      const Type type = k == 2 ? Type::int64 : Type::float32;
      if (has_input(k) && input(state, k).type() != type) return false;
    }
    const float overlap = has_input(3) ? *input(state, 3).data<float>() : 0;
    return overlap >= 0 && overlap <= 1;
  }

  // Selects the boxes of one class of a batch into `chosen`: their number, then each.
  void select(const Suppression& s, Index list, Index most, const Rectangle* boxes,
              std::uint64_t* heap, float* planes, Index plane, std::int32_t* chosen) const {
    const float* const scores = s.scores + list * s.boxes;
    Index n = 0;
    if (most > 0) {
      for (Index box = 0; box < s.boxes; ++box) {
        if (s.score && !(scores[box] > *s.score)) continue;
        // NaN comes last, ties by lower index.
        const std::uint32_t rank = std::isnan(scores[box]) ? 0 : rank_of(scores[box]);
        heap[n++] = std::uint64_t{rank} << 32 | static_cast<std::uint32_t>(~box);
      }
    }
    charge_work(n);
    std::make_heap(heap, heap + n);
    std::int32_t found = 0;
    for (; n > 0 && found < most; --n) {
      charge_work(found + 1);
      std::pop_heap(heap, heap + n);
      const auto box = static_cast<std::int32_t>(~static_cast<std::uint32_t>(heap[n - 1]));
      const Rectangle& r = boxes[box];
      const float floats[box_floats] = {r.across.low, r.across.high, r.along.low, r.along.high,
                                        r.area()};
      if (overlaps_(planes, plane, found, floats, s.overlap)) continue;
      for (Index k = 0; k < box_floats; ++k) {
        float* const next = planes + k * plane + found;
        if (found % boxes_at_once == 0) std::fill_n(next, boxes_at_once, 0.0F);
        *next = floats[k];
      }
      chosen[++found] = box;
    }
    chosen[0] = found;
  }

  const OverlapKernel overlaps_ = overlaps_of(chosen_isa());
};

bool takes(const AnalyzedGraph& graph, Index node) {
  const Signature& signature = *graph.node(node).node->signature;
  return signature.domain.empty() && signature.op == "NonMaxSuppression";
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  return std::make_unique<Suppress>(graph, node, std::move(buffers));
}

}  // namespace

const KernelFamily suppression_family{"suppression", KernelClass::copy, takes, step};

}  // namespace touchstone::optimized
