// How generated kernels walk over tensors. A kernel says which element a read means, as a point; a reader turns that into a
// pointer that moves by constant strides, so that the innermost two loops do no index arithmetic.
#pragma once

#include <algorithm>
#include <vector>

#include "reference/lists.h"
#include "reference/number.h"

namespace touchstone {

template <class T>
struct View {
  T* data = nullptr;
  Shape shape;
  Point strides;                               // in elements
  Type type = Type::undefined;                 // of the tensor (T may be a wide number)
  const std::vector<Index>* sample = nullptr;  // linear positions that alone are wanted; null: all

  View() = default;
  View(T* data, Shape shape, Type type) : data(data), shape(std::move(shape)), type(type) {
    strides = Point(this->shape.size(), 1);
    for (Index k = this->shape.size() - 2; k >= 0; --k) strides[k] = strides[k + 1] * this->shape[k + 1];
  }
  bool given() const { return shape.size() > 0 || data != nullptr; }

  Index offset(const Point& at) const {
    Index o = 0;
    for (Index k = 0; k < shape.size(); ++k) {
      if (at[k] < 0 || at[k] >= shape[k]) outside(at);
      o += at[k] * strides[k];
    }
    return o;
  }
  bool holds(const Point& at) const {
    for (Index k = 0; k < shape.size(); ++k) {
      if (at[k] < 0 || at[k] >= shape[k]) return false;
    }
    return at.size() == shape.size();
  }
  auto read(const Point& at) const {
    if (at.size() != shape.size()) outside(at);
    return load(data[offset(at)]);
  }
  auto read(const Point& at, const Compute<T>& other) const { return holds(at) ? load(data[offset(at)]) : other; }
  // At a point whose indices are intervals (the bounded reading): what any of them reaches.
  template <class P>
  auto read(const P& at) const { return read_around(*this, at); }
  template <class P>
  auto read(const P& at, const Compute<T>& other) const { return read_around(*this, at, other); }
  [[noreturn]] void outside(const Point& at) const {
    throw Error(ErrorKind::invalid_input, "element " + text(at) + " is read of a tensor of shape " + text(shape));
  }
};

template <class T> Shape shape(const View<T>& v) { return v.shape; }
template <class T> Index rank(const View<T>& v) { return v.shape.size(); }
template <class T> Index dim(const View<T>& v, Index k) { return item(v.shape, wrap(k, v.shape.size())); }
template <class T> Index size(const std::vector<View<T>>& family) { return static_cast<Index>(family.size()); }

// The same elements under another shape; only whole tensors can be seen so.
template <class T>
View<T> view(const View<T>& v, Shape shape) {
  if (count(shape) != count(v.shape)) v.outside(shape);
  View<T> seen(v.data, std::move(shape), v.type);
  seen.sample = v.sample;
  return seen;
}
// Dimension k of the result is dimension order[k] of v.
template <class T>
View<T> permuted(const View<T>& v, const Point& order) {
  View<T> seen = v;
  seen.shape = pick(v.shape, order);
  seen.strides = pick(v.strides, order);
  return seen;
}
// The part of a broadcast point that falls on v without its last n dims: right aligned, 0 where the dim is 1.
template <class T>
Point fit(const Point& b, const View<T>& v, Index n = 0) {
  const Index r = max(v.shape.size() - n, Index{0});
  Point p;
  for (Index k = 0; k < r; ++k) p.push_back(v.shape[k] == 1 ? 0 : item(b, b.size() - r + k));
  return p;
}
// The same with v's first dim laid on dim `from` of the point.
template <class T>
Point fit_from(const Point& b, const View<T>& v, Index from) {
  Point p;
  for (Index k = 0; k < v.shape.size(); ++k) p.push_back(v.shape[k] == 1 ? 0 : item(b, from + k));
  return p;
}

// A tensor of a kernel's own.
template <class T>
struct Array : View<T> {
  explicit Array(const Shape& shape, Type type = Type::undefined)
      : View<T>(nullptr, shape, type), held(std::make_unique<T[]>(static_cast<std::size_t>(count(shape)))) {
    this->data = held.get();
  }
  std::unique_ptr<T[]> held;
};

// A run of elements that differ in the last index alone.
struct Row {
  Point at;      // of the first element
  Index length = 1;
  Point point(Index x) const {
    Point p = at;
    if (!p.empty()) p[p.size() - 1] += x;
    return p;
  }
};

// The rows of a tensor (of its sample, where it has one), or of its part at step t of its first index.
class Rows {
 public:
  Rows(Shape shape, const std::vector<Index>* sample, Index step = -1) : shape_(std::move(shape)), sample_(sample), step_(step) {}

  class Iterator {
   public:
    Iterator(const Rows* rows, bool done) : rows_(rows), done_(done) {
      if (done_) return;
      const Shape& shape = rows->shape_;
      if (rows->sample_) {
        done_ = rows->sample_->empty();
        if (!done_) row_.at = unravel((*rows->sample_)[0], shape);
        return;
      }
      for (Index d : shape) done_ = done_ || d <= 0;
      row_.at = Point(shape.size(), 0);
      row_.length = shape.empty() ? 1 : shape.back();
      if (rows->step_ >= 0) {
        row_.at[0] = rows->step_;
        if (shape.size() == 1) row_.length = 1;
      }
    }
    const Row& operator*() const { return row_; }
    bool operator!=(const Iterator&) const { return !done_; }
    Iterator& operator++() {
      if (rows_->sample_) {
        done_ = ++sampled_ == rows_->sample_->size();
        if (!done_) row_.at = unravel((*rows_->sample_)[sampled_], rows_->shape_);
        return *this;
      }
      const Index first = rows_->step_ >= 0 ? 1 : 0;
      for (Index k = row_.at.size() - 2; k >= first; --k) {
        if (++row_.at[k] < rows_->shape_[k]) return *this;
        row_.at[k] = 0;
      }
      done_ = true;
      return *this;
    }

   private:
    const Rows* rows_;
    Row row_;
    std::size_t sampled_ = 0;
    bool done_;
  };
  Iterator begin() const { return {this, false}; }
  Iterator end() const { return {this, true}; }
  Index longest() const { return sample_ || shape_.empty() ? 1 : shape_.back(); }

 private:
  Shape shape_;
  const std::vector<Index>* sample_;
  Index step_;
};
template <class T> Rows rows(const View<T>& v) { return {v.shape, v.sample}; }
template <class T> Rows rows_at(const View<T>& v, Index step) { return {v.shape, nullptr, step}; }

// Reads view[point(at, c)] for the x-th element `at` of a row and a reduction index c in 0..inner-1. Where the point is
// affine in x and c (`affine`, which codegen proves), three points tell the strides; else every element asks for its point.
template <class T, class F>
class Reader {
 public:
  Reader(const View<T>& view, const Row& row, Index inner, bool affine, F point)
      : view_(view), row_(row), point_(std::move(point)), inner_(inner), affine_(affine && row.length > 0 && inner > 0 && view.given()) {
    if (affine_) probe();
  }

  auto operator()(Index c, Index x) const {
    if (affine_) return load(view_.data[base_ + c * by_c_ + x * by_x_]);
    return view_.read(point_(row_.point(x), c));
  }

  bool inside(Index c, Index x) const {
    if (affine_) return whole_ || (c >= low_c_ && c < high_c_ && x >= low_x_ && x < high_x_);
    return holds(view_, point_(row_.point(x), c));
  }
  // The element, or `other` where the point is outside.
  template <class C>
  auto or_else(Index c, Index x, const C& other) const {
    if (affine_) return inside(c, x) ? load(view_.data[base_ + c * by_c_ + x * by_x_]) : other;
    return view_.read(point_(row_.point(x), c), other);
  }

  // For a read that may not be outside: the corners of the affine range are looked at once, not every element.
  Reader&& checked() && {
    if constexpr (std::is_convertible_v<decltype(point_(row_.at, 0)), Point>) {  // else an index that is an interval
      if (affine_ && !whole_) view_.outside(point_(row_.at, 0));
    }
    return std::move(*this);
  }

 private:
  void probe() {
    const auto origin = point_(row_.at, 0);
    if constexpr (std::is_same_v<std::decay_t<decltype(origin)>, Point>) {
      if (origin.size() != view_.shape.size()) view_.outside(origin);
      const Point next_c = inner_ > 1 ? point_(row_.at, 1) : origin;
      const Point next_x = row_.length > 1 ? point_(row_.point(1), 0) : origin;
      Index offset = 0;
      for (Index k = 0; k < origin.size(); ++k) {
        const Index c = next_c[k] - origin[k], x = next_x[k] - origin[k], extent = view_.shape[k];
        const Index last_c = c * (inner_ - 1), last_x = x * (row_.length - 1);
        const Index least = origin[k] + std::min<Index>(last_c, 0) + std::min<Index>(last_x, 0);
        const Index most = origin[k] + std::max<Index>(last_c, 0) + std::max<Index>(last_x, 0);
        if (least < 0 || most >= extent) {
          whole_ = false;
          if (c != 0 && x != 0) {
            affine_ = false;  // the valid part is no box: ask for every element
            return;
          }
          if (c != 0) narrow(origin[k], c, extent, low_c_, high_c_);
          else if (x != 0) narrow(origin[k], x, extent, low_x_, high_x_);
          else high_c_ = 0;
        }
        offset += origin[k] * view_.strides[k];
        by_c_ += c * view_.strides[k];
        by_x_ += x * view_.strides[k];
      }
      base_ = offset;
    } else {
      affine_ = false;  // an index that is an interval
    }
  }
  // The indices i for which 0 <= origin + i * slope < extent.
  static void narrow(Index origin, Index slope, Index extent, Index& low, Index& high) {
    if (slope > 0) {
      low = std::max(low, ceil_div(-origin, slope));
      high = std::min(high, floor_div(extent - 1 - origin, slope) + 1);
    } else {
      low = std::max(low, ceil_div(origin - (extent - 1), -slope));
      high = std::min(high, floor_div(origin, -slope) + 1);
    }
  }
  static bool holds(const View<T>& view, const Point& at) { return view.holds(at); }
  template <class P>
  static bool holds(const View<T>& view, const P& at) { return view.holds(at); }

  const View<T>& view_;
  const Row& row_;
  F point_;
  Index inner_;
  bool affine_, whole_ = true;
  Index base_ = 0, by_c_ = 0, by_x_ = 0;
  Index low_c_ = 0, high_c_ = std::numeric_limits<Index>::max();
  Index low_x_ = 0, high_x_ = std::numeric_limits<Index>::max();
};

template <class T, class F>
Reader<T, F> reader(const View<T>& view, const Row& row, Index inner, bool affine, F point) {
  return Reader<T, F>(view, row, inner, affine, std::move(point));
}

// One accumulator an element of a row.
template <class A>
class Accumulators {
 public:
  explicit Accumulators(Index longest) : held_(static_cast<std::size_t>(longest)) {}
  void reset(Index length) { std::fill_n(held_.begin(), length, A{}); }
  A& operator[](Index x) { return held_[static_cast<std::size_t>(x)]; }

 private:
  std::vector<A> held_;
};

}  // namespace touchstone
