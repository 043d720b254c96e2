// Reads the operand elements of a row at the points that an entry's index expressions name. If the
// points are affine in the row's last index and in the reduction's (codegen proves it), the
// elements have constant strides. An expression then reads them in place if the stride is 1,
// else from a copy in L1.
#pragma once

#include <algorithm>

#include "reference/kernel.h"

namespace touchstone::optimized {

// Half-open range of row elements or of reduction indices.
struct Stretch {
  Index first, last;
  void cut(Index low, Index high) {
    first = std::max(first, low);
    last = std::min(last, high);
  }
  bool empty() const { return first >= last; }
};

template <class T, class F>
class OperandSpan {
 public:
  OperandSpan(const View<T>& view, const Row& row, Index inner, bool affine, F point)
      : view_(view), row_(row), point_(std::move(point)) {
    if (affine && row.length > 0 && inner > 0 && view.given())
      access_ = affine_access(point_at, &point_, row, inner, view.shape, view.strides);
  }

  // Reads one element, as a Reader does (reference/view.h).
  auto operator()(Index c, Index x) const {
    if (access_.affine) return load(view_.data[access_.offset(c, x)]);
    return view_.read(point_(row_.point(x), c));
  }
  bool inside(Index c, Index x) const {
    return access_.affine ? access_.low_x <= x && x < access_.high_x && access_.low_c <= c &&
                                c < access_.high_c
                          : view_.holds(point_(row_.point(x), c));
  }
  template <class C>
  auto or_else(Index c, Index x, const C& other) const {
    if (access_.affine) return inside(c, x) ? load(view_.data[access_.offset(c, x)]) : other;
    return view_.read(point_(row_.point(x), c), other);
  }

  // Throws the view's out-of-range error if a read may be outside.
  OperandSpan&& checked() && {
    if (access_.affine && !access_.whole) view_.outside(point_(row_.at, 0));
    return std::move(*this);
  }

  bool even() const { return access_.affine; }
  // Direction in which its elements are contiguous: along the row (-1), the reduction (1), or
  // neither (0).
  int contiguous() const {
    return !access_.affine ? 0 : access_.by_x == 1 ? -1 : access_.by_c == 1 ? 1 : 0;
  }
  // Cut the range to the elements inside the view, for one index of the reduction; or of the row.
  void within_x(Index c, Stretch& held) const {
    held.cut(access_.low_x,
             access_.low_c <= c && c < access_.high_c ? access_.high_x : access_.low_x);
  }
  void within_inner(Index x, Stretch& held) const {
    held.cut(access_.low_c,
             access_.low_x <= x && x < access_.high_x ? access_.high_c : access_.low_c);
  }

  // Return `count` elements from `first` on: a pointer into the tensor, or to the copy in
  // `scratch`.
  const float* along_x(Index c, Index first, Index count, float* scratch) const {
    if (access_.affine) return steps(access_.offset(c, first), access_.by_x, count, scratch);
    for (Index k = 0; k < count; ++k) scratch[k] = number((*this)(c, first + k));
    return scratch;
  }
  const float* along_inner(Index x, Index first, Index count, float* scratch) const {
    if (access_.affine) return steps(access_.offset(first, x), access_.by_c, count, scratch);
    for (Index k = 0; k < count; ++k) scratch[k] = number((*this)(first + k, x));
    return scratch;
  }
  // The same; elements outside the view read as `other`.
  const float* along_x(Index c, Index first, Index count, float* scratch, float other) const {
    if (access_.affine && access_.whole) return along_x(c, first, count, scratch);
    if (access_.affine) {
      Stretch held{first, first + count};
      within_x(c, held);
      if (held.empty()) return std::fill_n(scratch, count, other), scratch;
      return edged(first, count, scratch, other, held, access_.offset(c, held.first), access_.by_x);
    }
    for (Index k = 0; k < count; ++k)
      scratch[k] = inside(c, first + k) ? number((*this)(c, first + k)) : other;
    return scratch;
  }
  const float* along_inner(Index x, Index first, Index count, float* scratch, float other) const {
    if (access_.affine && access_.whole) return along_inner(x, first, count, scratch);
    if (access_.affine) {
      Stretch held{first, first + count};
      within_inner(x, held);
      if (held.empty()) return std::fill_n(scratch, count, other), scratch;
      return edged(first, count, scratch, other, held, access_.offset(held.first, x), access_.by_c);
    }
    for (Index k = 0; k < count; ++k)
      scratch[k] = inside(first + k, x) ? number((*this)(first + k, x)) : other;
    return scratch;
  }

 private:
  template <class C>
  static float number(const C& held) {
    return static_cast<float>(held);
  }

  const float* steps(Index from, Index step, Index count, float* scratch) const {
    if constexpr (std::is_same_v<std::remove_const_t<T>, float>) {
      if (step == 1 || count == 1) return view_.data + from;
    }
    if (step == 0) {
      std::fill_n(scratch, count, number(load(view_.data[from])));
    } else {
      for (Index k = 0; k < count; ++k) scratch[k] = number(load(view_.data[from + k * step]));
    }
    return scratch;
  }
  const float* edged(Index first, Index count, float* scratch, float other, const Stretch& held,
                     Index from, Index step) const {
    std::fill_n(scratch, held.first - first, other);
    for (Index k = 0; k < held.last - held.first; ++k)
      scratch[held.first - first + k] = number(load(view_.data[from + k * step]));
    std::fill_n(scratch + (held.last - first), first + count - held.last, other);
    return scratch;
  }

  static IndexVector point_at(const void* point, const IndexVector& at, Index c) {
    return (*static_cast<const F*>(point))(at, c);
  }

  const View<T>& view_;
  const Row& row_;
  F point_;
  AffineAccess access_;
};

template <class T, class F>
OperandSpan<T, F> operand_span(const View<T>& view, const Row& row, Index inner, bool affine,
                               F point) {
  return OperandSpan<T, F>(view, row, inner, affine, std::move(point));
}
template <class T, class F>
OperandSpan<T, F> operand_span(const View<T>& view, const Row& row, Index inner, Scattering,
                               F point) {
  return OperandSpan<T, F>(view, row, inner, false, std::move(point));
}

}  // namespace touchstone::optimized
