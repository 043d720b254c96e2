// Non-maximum suppression: selects boxes by score unless they overlap too much with a selected one.
// Common to the native kernel and bounded semantics. R is the number type of areas.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "reference/call.h"
#include "reference/facts.h"
#include "reference/number.h"

namespace touchstone::structural {

// Inputs and attributes of NonMaxSuppression.
struct Suppression {
  Index batches = 0, classes = 0, boxes = 0;
  Index most = 0;  // maximum per class
  bool centered = false;
  const float* corners = nullptr;  // four numbers per box
  const float* scores = nullptr;
  float overlap = 0;  // maximum overlap of two selected boxes
  std::optional<float> score;

  Suppression(const Facts& facts, const std::vector<Value>& inputs) {
    const Tensor &all = inputs[0].tensor(), &scored = inputs[1].tensor();
    batches = all.shape()[0], classes = scored.shape()[1], boxes = all.shape()[1];
    corners = all.data<float>(), scores = scored.data<float>();
    centered = facts.integer("center_point_box") != 0;
    const auto given = [&](std::size_t k) { return k < inputs.size() && !inputs[k].absent(); };
    if (given(2)) most = *inputs[2].tensor().data<std::int64_t>();
    if (given(3)) overlap = *inputs[3].tensor().data<float>();
    if (given(4)) score = *inputs[4].tensor().data<float>();
  }
};

template <class R>
struct Span {
  R low, high;
  R length() const { return high - low; }
};
template <class R>
struct Rectangle {
  Span<R> across, along;
  R area() const { return across.length() * along.length(); }
};

template <class R>
R smaller(const R& a, const R& b) {
  return select(less(b, a), b, a);
}
template <class R>
R larger(const R& a, const R& b) {
  return select(less(a, b), b, a);
}

template <class R>
Rectangle<R> rectangle(const float* box, bool centered) {
  const auto at = [&](int k) { return constant<R>(static_cast<double>(box[k])); };
  if (!centered)
    return {{smaller(at(1), at(3)), larger(at(1), at(3))},
            {smaller(at(0), at(2)), larger(at(0), at(2))}};
  const R half_width = at(2) / constant<R>(2), half_height = at(3) / constant<R>(2);
  return {{at(0) - half_width, at(0) + half_width}, {at(1) - half_height, at(1) + half_height}};
}

// True if the overlap of two boxes, their common area over the area of their union, exceeds
// `threshold`.
template <class R>
auto shares_more(const Rectangle<R>& a, const Rectangle<R>& b, const R& threshold) {
  const Rectangle<R> common{
      {larger(a.across.low, b.across.low), smaller(a.across.high, b.across.high)},
      {larger(a.along.low, b.along.low), smaller(a.along.high, b.along.high)}};
  const R zero = constant<R>(0), shared = common.area(), covered = a.area() + b.area() - shared;
  const auto meet =
      both(less(common.across.low, common.across.high), less(common.along.low, common.along.high));
  const auto whole = both(both(less(zero, a.area()), less(zero, b.area())), less(zero, covered));
  return both(both(meet, whole), less(threshold, shared / covered));
}

struct Selected {
  Index batch, cls, box;
};

// Selects class by class, the highest score first, ties by lower index; NaN scores come last.
// `suppressed(batch, class, box, other)` returns whether a selected box excludes another.
template <class Suppressed>
std::vector<Selected> select_boxes(const Suppression& s, Suppressed suppressed) {
  std::vector<Selected> chosen;
  if (s.boxes == 0 || s.most <= 0) return chosen;
  for (Index batch = 0; batch < s.batches; ++batch) {
    for (Index cls = 0; cls < s.classes; ++cls) {
      const float* scores = s.scores + (batch * s.classes + cls) * s.boxes;
      const Charge charge(3 * s.boxes * Index{sizeof(Index)});
      charge_work(s.boxes);
      std::vector<Index> order;
      for (Index box = 0; box < s.boxes; ++box) {
        if (!s.score || scores[box] > *s.score) order.push_back(box);
      }
      std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
        return scores[a] > scores[b] || (std::isnan(scores[b]) && !std::isnan(scores[a]));
      });
      const auto first = static_cast<std::ptrdiff_t>(chosen.size());
      for (const Index box : order) {
        if (static_cast<std::ptrdiff_t>(chosen.size()) - first >= s.most) break;
        charge_work(static_cast<Index>(chosen.size()) - first + 1);
        const bool falls = std::any_of(
            chosen.begin() + first, chosen.end(),
            [&](const Selected& other) { return suppressed(batch, cls, box, other.box); });
        if (falls) continue;
        charge_scratch(2 * sizeof(Selected));
        chosen.push_back({batch, cls, box});
      }
    }
  }
  return chosen;
}

}  // namespace touchstone::structural
