// Masks of attention: biases that are added to rows of scores.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "core/tensor.h"

namespace touchstone::optimized::attention {

inline constexpr float infinity = std::numeric_limits<float>::infinity();

struct Mask {
  Type type = Type::undefined;  // undefined: none
  const void* data = nullptr;
  Index by[3] = {0, 0, 0};  // strides of samples, heads and queries
  Index columns = 0;        // later keys are masked
  bool repeats = false;     // all columns have the mask of the first
};

inline float bias_of(float mask) { return mask; }
inline float bias_of(std::uint8_t mask) { return mask != 0 ? 0.0F : -infinity; }

// Adds a bias to scores. Returns false if it masks them all.
template <class F>
bool add_bias(float* scores, Index first, Index end, F bias) {
  int open = 0;
  for (Index j = first; j < end; ++j) {
    const float added = bias(j);
    scores[j] += added;
    open |= added == -infinity ? 0 : 1;
  }
  return open != 0;
}

// Keys that a query may attend to: those from `first` to before `end`, if there are any.
struct KeyRange {
  Index first = 0, end = 0;
  KeyRange within(Index count) const {
    const Index from = std::clamp<Index>(first, 0, count);
    return {from, std::clamp(end, from, count)};
  }
};

// Adds a row of the mask, and masks keys that are not allowed. Returns false if no key is left.
template <class T>
bool add_mask(const T* mask, Index columns, bool repeats, KeyRange allowed, Index total,
              float* scores) {
  const KeyRange open_keys = allowed.within(columns);
  const auto add = [&](auto bias) {
    const auto blocked = [&](Index j) { return bias(j) - infinity; };
    bool open = add_bias(scores, open_keys.first, open_keys.end, bias);
    if (add_bias(scores, 0, open_keys.first, blocked)) open = true;  // a bias of infinity gives NaN
    if (add_bias(scores, open_keys.end, columns, blocked)) open = true;
    add_bias(scores, columns, total, [](Index) { return -infinity; });
    return open;
  };
  if (repeats) return add([bias = bias_of(*mask)](Index) { return bias; });
  return add([mask](Index j) { return bias_of(mask[j]); });
}

// Adds the mask of one query, by sample, head and position.
inline bool add_mask(const Mask& mask, const std::array<Index, 3>& query, KeyRange allowed,
                     Index total, float* scores) {
  Index from = 0;
  for (std::size_t d = 0; d < 3; ++d) from += query[d] * mask.by[d];
  if (mask.type == Type::float32) {
    return add_mask(static_cast<const float*>(mask.data) + from, mask.columns, mask.repeats,
                    allowed, total, scores);
  }
  if (mask.type == Type::boolean) {
    return add_mask(static_cast<const std::uint8_t*>(mask.data) + from, mask.columns, mask.repeats,
                    allowed, total, scores);
  }
  const auto [first, end] = allowed.within(total);
  add_bias(scores, 0, first, [](Index) { return -infinity; });
  add_bias(scores, end, total, [](Index) { return -infinity; });
  return first < end;
}

}  // namespace touchstone::optimized::attention
