// What a nest reads for a row: the elements of a tensor at points that an entry's index expressions
// name. Where the points are affine in the row's last index and in a reduction's (codegen proves
// it), they lie at constant steps, and a term reads them where they stand, or from a copy in the
// first cache where their step is not 1.
#pragma once

#include <algorithm>

#include "reference/kernel.h"

namespace touchstone {

// Of elements of a row, or of indices of a reduction.
struct Stretch {
  Index first, last;
  void cut(Index low, Index high) {
    first = std::max(first, low);
    last = std::min(last, high);
  }
};

template <class T, class F>
class Strip {
 public:
  Strip(const View<T>& view, const Row& row, Index inner, bool affine, F point)
      : view_(view),
        row_(row),
        point_(std::move(point)),
        inner_(inner),
        even_(affine && row.length > 0 && inner > 0 && view.given()) {
    if (even_) probe();
  }

  // One element, as a Reader (reference/view.h) gives it.
  auto operator()(Index c, Index x) const {
    if (even_) return load(view_.data[place(c, x)]);
    return view_.read(point_(row_.point(x), c));
  }
  bool inside(Index c, Index x) const {
    return even_ ? rows_.first <= x && x < rows_.last && inners_.first <= c && c < inners_.last
                 : view_.holds(point_(row_.point(x), c));
  }
  template <class C>
  auto or_else(Index c, Index x, const C& other) const {
    if (even_) return inside(c, x) ? load(view_.data[place(c, x)]) : other;
    return view_.read(point_(row_.point(x), c), other);
  }

  // For a read that may not be outside.
  Strip&& checked() && {
    if (even_ && !whole_) view_.outside(point_(row_.at, 0));
    return std::move(*this);
  }

  bool even() const { return even_; }
  // Which way its elements lie one behind the other: along the row (-1) or the reduction (1).
  int leaning() const { return !even_ ? 0 : by_x_ == 1 ? -1 : by_c_ == 1 ? 1 : 0; }
  // What of the elements is inside, for one index of the reduction; and the other way round.
  void within_x(Index c, Stretch& held) const {
    held.cut(rows_.first, inners_.first <= c && c < inners_.last ? rows_.last : rows_.first);
  }
  void within_inner(Index x, Stretch& held) const {
    held.cut(inners_.first, rows_.first <= x && x < rows_.last ? inners_.last : inners_.first);
  }

  // `count` elements from `first` on: where they stand, or in the room.
  const float* along_x(Index c, Index first, Index count, float* room) const {
    if (even_) return steps(place(c, first), by_x_, count, room);
    for (Index k = 0; k < count; ++k) room[k] = number((*this)(c, first + k));
    return room;
  }
  const float* along_inner(Index x, Index first, Index count, float* room) const {
    if (even_) return steps(place(first, x), by_c_, count, room);
    for (Index k = 0; k < count; ++k) room[k] = number((*this)(first + k, x));
    return room;
  }
  // The same where some may be outside.
  const float* along_x(Index c, Index first, Index count, float* room, float other) const {
    if (even_ && whole_) return along_x(c, first, count, room);
    if (even_) {
      Stretch held{first, first + count};
      within_x(c, held);
      return edged(first, count, room, other, held, place(c, held.first), by_x_);
    }
    for (Index k = 0; k < count; ++k)
      room[k] = inside(c, first + k) ? number((*this)(c, first + k)) : other;
    return room;
  }
  const float* along_inner(Index x, Index first, Index count, float* room, float other) const {
    if (even_ && whole_) return along_inner(x, first, count, room);
    if (even_) {
      Stretch held{first, first + count};
      within_inner(x, held);
      return edged(first, count, room, other, held, place(held.first, x), by_c_);
    }
    for (Index k = 0; k < count; ++k)
      room[k] = inside(first + k, x) ? number((*this)(first + k, x)) : other;
    return room;
  }

 private:
  static constexpr Index farthest_index = std::numeric_limits<Index>::max();

  template <class C>
  static float number(const C& held) {
    return static_cast<float>(held);
  }

  Index place(Index c, Index x) const { return base_ + c * by_c_ + x * by_x_; }

  const float* steps(Index from, Index step, Index count, float* room) const {
    if constexpr (std::is_same_v<std::remove_const_t<T>, float>) {
      if (step == 1 || count == 1) return view_.data + from;
    }
    if (step == 0) {
      std::fill_n(room, count, number(load(view_.data[from])));
    } else {
      for (Index k = 0; k < count; ++k) room[k] = number(load(view_.data[from + k * step]));
    }
    return room;
  }
  const float* edged(Index first, Index count, float* room, float other, const Stretch& held,
                     Index from, Index step) const {
    if (held.first >= held.last) return std::fill_n(room, count, other), room;
    std::fill_n(room, held.first - first, other);
    for (Index k = 0; k < held.last - held.first; ++k)
      room[held.first - first + k] = number(load(view_.data[from + k * step]));
    std::fill_n(room + (held.last - first), first + count - held.last, other);
    return room;
  }

  // Three points tell the steps, and where the points leave the tensor.
  void probe() {
    const Point origin = point_(row_.at, 0);
    if (origin.size() != view_.shape.size()) view_.outside(origin);
    const Point next_c = inner_ > 1 ? point_(row_.at, 1) : origin;
    const Point next_x = row_.length > 1 ? point_(row_.point(1), 0) : origin;
    for (Index k = 0; k < origin.size(); ++k) {
      const Index c = next_c[k] - origin[k], x = next_x[k] - origin[k], extent = view_.shape[k];
      const Index last_c = c * (inner_ - 1), last_x = x * (row_.length - 1);
      const Index least = origin[k] + std::min<Index>(last_c, 0) + std::min<Index>(last_x, 0);
      const Index most = origin[k] + std::max<Index>(last_c, 0) + std::max<Index>(last_x, 0);
      if (least < 0 || most >= extent) {
        whole_ = false;
        if (c != 0 && x != 0) {
          even_ = false;  // what is inside is no box
          return;
        }
        if (c != 0)
          narrow(origin[k], c, extent, inners_);
        else if (x != 0)
          narrow(origin[k], x, extent, rows_);
        else
          inners_.last = inners_.first;
      }
      base_ += origin[k] * view_.strides[k];
      by_c_ += c * view_.strides[k];
      by_x_ += x * view_.strides[k];
    }
  }
  // The indices i for which 0 <= origin + i * slope < extent.
  static void narrow(Index origin, Index slope, Index extent, Stretch& held) {
    if (slope > 0)
      held.cut(ceil_div(-origin, slope), floor_div(extent - 1 - origin, slope) + 1);
    else
      held.cut(ceil_div(origin - (extent - 1), -slope), floor_div(origin, -slope) + 1);
  }

  const View<T>& view_;
  const Row& row_;
  F point_;
  Index inner_;
  bool even_, whole_ = true;
  Index base_ = 0, by_c_ = 0, by_x_ = 0;
  Stretch inners_{0, farthest_index}, rows_{0, farthest_index};
};

template <class T, class F>
Strip<T, F> strip(const View<T>& view, const Row& row, Index inner, bool affine, F point) {
  return Strip<T, F>(view, row, inner, affine, std::move(point));
}

}  // namespace touchstone
