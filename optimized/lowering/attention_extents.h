// Sizes of a call of attention, and the layout of its queries, keys and values.
#pragma once

#include <optional>

#include "core/shape.h"

namespace touchstone::optimized::attention {

// Shapes of a call's inputs, and its numbers of heads; 0 heads: not given.
struct CallShapes {
  const Shape &q, &k, &v;
  const Shape *past_key = nullptr, *past_value = nullptr;  // null: not given
  Index q_heads = 0, kv_heads = 0;
};

// Numbers of heads and positions, and sizes of a head.
struct Extents {
  Index batch = 0, heads = 0, kv_heads = 0, queries = 0, past = 0, steps = 0, total = 0;
  Index depth = 0, width = 0;  // of a key, of a value
  bool is_flat = false;        // three-dimensional inputs

  Index pairs() const { return batch * kv_heads; }           // of keys and values
  Index rows() const { return heads / kv_heads * queries; }  // of queries, for a pair
  Shape scores() const { return {batch, heads, queries, total}; }
  Shape result() const {
    return is_flat ? Shape{batch, queries, heads * width} : Shape{batch, heads, queries, width};
  }
};

// Returns nothing for a call that breaks a rule, has no product or is too long.
std::optional<Extents> extents_of(const CallShapes& call);

// Vectors of one length, by sample, head and position.
struct Heads {
  const float* data = nullptr;
  Index batch = 0, head = 0, step = 0;  // strides

  Heads(const float* data, bool is_flat, Index heads, Index steps, Index size)
      : data(data),
        batch(heads * steps * size),
        head(is_flat ? size : steps * size),
        step(is_flat ? heads * size : size) {}
  Index offset(Index b, Index h, Index i) const { return b * batch + h * head + i * step; }
  const float* at(Index b, Index h, Index i) const { return data + offset(b, h, i); }
};

}  // namespace touchstone::optimized::attention
