// Tensor access of generated kernels. A kernel gives the point that a read refers to. A reader
// turns affine points into a pointer with constant strides, so that the innermost two loops do no
// index arithmetic.
#pragma once

#include <algorithm>
#include <vector>

#include "reference/lists.h"
#include "reference/number.h"

namespace touchstone {

// Throws Error (invalid_input).
[[noreturn]] void read_outside(const IndexVector& at, const Shape& shape);

// A strided view of a tensor's elements; it does not own them. Default-constructed for an omitted
// input.
template <class T>
struct View {
  T* data = nullptr;
  Shape shape;
  IndexVector strides;          // in elements
  Type type = Type::undefined;  // the tensor's (T may be an extended precision number)
  const std::vector<Index>* sample = nullptr;  // linear positions to compute; null: all

  View() = default;
  View(T* data, Shape shape, Type type)
      : data(data), shape(std::move(shape)), strides(dense_strides(this->shape)), type(type) {}
  bool given() const { return shape.size() > 0 || data != nullptr; }

  Index offset(const IndexVector& at) const {
    Index o = 0;
    for (Index k = 0; k < shape.size(); ++k) {
      if (at[k] < 0 || at[k] >= shape[k]) outside(at);
      o += at[k] * strides[k];
    }
    return o;
  }
  bool holds(const IndexVector& at) const {
    for (Index k = 0; k < shape.size(); ++k) {
      if (at[k] < 0 || at[k] >= shape[k]) return false;
    }
    return at.size() == shape.size();
  }
  auto read(const IndexVector& at) const {
    if (at.size() != shape.size()) outside(at);
    return load(data[offset(at)]);
  }
  auto read(const IndexVector& at, const Compute<T>& other) const {
    return holds(at) ? load(data[offset(at)]) : other;
  }
  // At a point whose indices are intervals (bounded semantics): the hull of the elements that they
  // reach.
  template <class P>
  auto read(const P& at) const {
    return read_around(*this, at);
  }
  template <class P>
  auto read(const P& at, const Compute<T>& other) const {
    return read_around(*this, at, other);
  }
  [[noreturn]] void outside(const IndexVector& at) const { read_outside(at, shape); }
};

template <class T>
Shape shape(const View<T>& v) {
  return v.shape;
}
template <class T>
Index rank(const View<T>& v) {
  return v.shape.size();
}
template <class T>
Index dim(const View<T>& v, Index k) {
  return item(v.shape, wrap(k, v.shape.size()));
}
template <class T>
Index size(const std::vector<View<T>>& family) {
  return static_cast<Index>(family.size());
}

// The same elements under another shape; only for contiguous views of whole tensors.
template <class T>
View<T> view(const View<T>& v, Shape shape) {
  if (count(shape) != count(v.shape)) v.outside(shape);
  View<T> seen(v.data, std::move(shape), v.type);
  seen.sample = v.sample;
  return seen;
}
// Dimension k of the result is dimension order[k] of v.
template <class T>
View<T> permuted(const View<T>& v, const IndexVector& order) {
  View<T> seen = v;
  seen.shape = pick(v.shape, order);
  seen.strides = pick(v.strides, order);
  return seen;
}
// Maps a broadcast point to v without v's last n dims: aligned right, 0 where the dim is 1.
template <class T>
IndexVector fit(const IndexVector& b, const View<T>& v, Index n = 0) {
  const Index r = max(subtract(v.shape.size(), n), Index{0});
  IndexVector p;
  for (Index k = 0; k < r; ++k) p.push_back(v.shape[k] == 1 ? 0 : item(b, b.size() - r + k));
  return p;
}
// The same with v's first dim aligned to dim `from` of the point.
template <class T>
IndexVector fit_from(const IndexVector& b, const View<T>& v, Index from) {
  IndexVector p;
  for (Index k = 0; k < v.shape.size(); ++k)
    p.push_back(v.shape[k] == 1 ? 0 : item(b, add(from, k)));
  return p;
}

// Bytes of an array. Throws Error (limit) if they exceed the limit 'bytes' of a tensor.
Index bytes_of_array(const Shape& shape, std::size_t item);

// A tensor local to a kernel.
template <class T>
struct Array : View<T> {
  explicit Array(const Shape& shape, Type type = Type::undefined)
      : View<T>(nullptr, shape, type),
        charge(bytes_of_array(shape, sizeof(T))),
        held(std::make_unique<T[]>(static_cast<std::size_t>(count(shape)))) {
    this->data = held.get();
  }
  Charge charge;
  std::unique_ptr<T[]> held;
};

// A run of elements that differ only in the last index.
struct Row {
  IndexVector at;  // the first element
  Index length = 1;
  IndexVector point(Index x) const {
    IndexVector p = at;
    if (!p.empty()) p[p.size() - 1] += x;
    return p;
  }
};

// The rows of a tensor (of its sample, if it has one), or of its part at index `step` of the first
// dimension. Long rows are split. Charges one operation per element.
class Rows {
 public:
  Rows(Shape shape, const std::vector<Index>* sample, Index step = -1)
      : shape_(std::move(shape)), sample_(sample), step_(step) {}

  class Iterator {
   public:
    Iterator(const Rows* rows, bool done)
        : rows_(rows), width_(rows->step_ >= 0 && rows->shape_.size() == 1 ? 1 : rows->width()) {
      done_ = done;
      if (done_) return;
      const Shape& shape = rows->shape_;
      if (rows->sample_) {
        done_ = rows->sample_->empty();
        if (!done_) row_.at = unravel((*rows->sample_)[0], shape);
        return;
      }
      for (Index d : shape) done_ = done_ || d <= 0;
      row_.at = IndexVector(shape.size(), 0);
      if (rows->step_ >= 0) row_.at[0] = rows->step_;
      if (!done_) take(width_);
    }
    const Row& operator*() const { return row_; }
    bool operator!=(const Iterator&) const { return !done_; }
    Iterator& operator++() {
      if (rows_->sample_) {
        charge_work(1);
        done_ = ++sampled_ == rows_->sample_->size();
        if (!done_) row_.at = unravel((*rows_->sample_)[sampled_], rows_->shape_);
        return *this;
      }
      const Index last = row_.at.size() - 1, first = rows_->step_ >= 0 ? 1 : 0;
      if (row_.length < width_) {
        const Index next = add(row_.at[last], row_.length);
        row_.at[last] = next < width_ ? next : 0;
        if (next < width_) return take(subtract(width_, next));
      }
      for (Index k = subtract(last, 1); k >= first; --k) {
        if (++row_.at[k] < rows_->shape_[k]) return take(width_);
        row_.at[k] = 0;
      }
      done_ = true;
      return *this;
    }

   private:
    Iterator& take(Index left) {
      row_.length = std::min(left, max_at_once);
      charge_work(row_.length);
      return *this;
    }
    const Rows* rows_;
    Index width_;  // row width
    Row row_;
    std::size_t sampled_ = 0;
    bool done_;
  };
  Iterator begin() const { return {this, false}; }
  Iterator end() const { return {this, true}; }
  Index longest() const {  // 0 if there is no row
    if (sample_ || shape_.empty()) return 1;
    return std::any_of(shape_.begin(), shape_.end(), [](Index d) { return d <= 0; })
               ? 0
               : std::min(shape_.back(), max_at_once);
  }

 private:
  static constexpr Index max_at_once = Index{1} << 14;
  Index width() const { return shape_.empty() ? 1 : shape_.back(); }
  Shape shape_;
  const std::vector<Index>* sample_;
  Index step_;
};
template <class T>
Rows rows(const View<T>& v) {
  return {v.shape, v.sample};
}
template <class T>
Rows rows_at(const View<T>& v, Index step) {
  return {v.shape, nullptr, step};
}

// A reduction's inner indices, in strips: each, with the elements of a row, is some ten thousand
// operations.
class Strips {
 public:
  struct Strip {
    Index from, to;
  };
  Strips(Index count, Index length)
      : count_(count),
        length_(length),
        most_(std::max<Index>(1, steps / std::max<Index>(length, 1))) {}
  class Iterator {
   public:
    Iterator(const Strips& all, Index from) : all_(all), strip_{from, from} { take(); }
    const Strip& operator*() const { return strip_; }
    bool operator!=(const Iterator&) const { return strip_.from < all_.count_; }
    Iterator& operator++() {
      strip_.from = strip_.to;
      take();
      return *this;
    }

   private:
    void take() {
      if (strip_.from >= all_.count_) return;
      const Index next = std::min(all_.most_, subtract(all_.count_, strip_.from));
      strip_.to = add(strip_.to, next);
      charge_work(multiply(next, all_.length_));
    }
    const Strips& all_;
    Strip strip_;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, count_}; }

 private:
  static constexpr Index steps = Index{1} << 15;
  Index count_, length_, most_;
};

// Address computation of a read whose point is affine in c (0..inner-1) and x (0..length-1): `base`
// plus these strides, in elements. Unless `whole`, only c and x in low <= . < high are in range.
struct AffineAccess {
  bool affine = false, whole = true;
  Index base = 0, by_c = 0, by_x = 0;
  Index low_c = 0, high_c = std::numeric_limits<Index>::max();
  Index low_x = 0, high_x = std::numeric_limits<Index>::max();

  // Runs per element of a kernel's inner loops, so it is unchecked: affine_access has checked it.
  Index offset(Index c, Index x) const { return base + c * by_c + x * by_x; }
};

// Derives the strides from three points of `point_at(reader, at, c)`. Not affine if the valid part
// is not a box, or if an offset within the loops overflows 64 bits. With c and x in range, base + c
// * by_c + x * by_x then fits in any order.
//
// Not a template, since kernels have thousands of readers. Throws Error (invalid_input) if a
// point's rank is not the tensor's.
AffineAccess affine_access(IndexVector (*point_at)(const void* reader, const IndexVector& at,
                                                   Index c),
                           const void* reader, const Row& row, Index inner, const Shape& shape,
                           const IndexVector& strides);

// Marks a read whose point is never affine.
struct Scattering {};
constexpr Scattering scattering;

// Reads view[point(at, c)] for the x-th element `at` of a row and a reduction index c in
// 0..inner-1. If the point is affine in x and c (`affine`, which codegen proves), it is evaluated
// once per row, else per element.
template <class T, class F, class Affine>
class Reader {
 public:
  Reader(const View<T>& view, const Row& row, Index inner, Affine affine, F point)
      : view_(view), row_(row), point_(std::move(point)) {
    if constexpr (may_be_affine) {
      if (affine && row.length > 0 && inner > 0 && view.given())
        access_ = affine_access(point_at, &point_, row, inner, view.shape, view.strides);
    }
  }

  auto operator()(Index c, Index x) const {
    if constexpr (may_be_affine) {
      if (access_.affine) return load(view_.data[access_.offset(c, x)]);
    }
    return view_.read(point_(row_.point(x), c));
  }

  bool inside(Index c, Index x) const {
    if constexpr (may_be_affine) {
      if (access_.affine)
        return access_.whole || (c >= access_.low_c && c < access_.high_c && x >= access_.low_x &&
                                 x < access_.high_x);
    }
    return view_.holds(point_(row_.point(x), c));
  }
  // The element, or `other` if the point is out of range.
  template <class C>
  auto or_else(Index c, Index x, const C& other) const {
    if constexpr (may_be_affine) {
      if (access_.affine) return inside(c, x) ? load(view_.data[access_.offset(c, x)]) : other;
    }
    return view_.read(point_(row_.point(x), c), other);
  }

  // For a read that must be in range: checks the corners of the affine range once instead of every
  // element.
  Reader&& checked() && {
    if constexpr (may_be_affine) {
      if (access_.affine && !access_.whole) view_.outside(point_at(&point_, row_.at, 0));
    }
    return std::move(*this);
  }

 private:
  // An interval index (bounded semantics) has no affine form.
  static constexpr bool may_be_affine =
      !std::is_same_v<Affine, Scattering> &&
      std::is_same_v<std::invoke_result_t<const F&, const IndexVector&, Index>, IndexVector>;
  static IndexVector point_at(const void* point, const IndexVector& at, Index c) {
    return (*static_cast<const F*>(point))(at, c);
  }

  const View<T>& view_;
  const Row& row_;
  F point_;
  AffineAccess access_;
};

template <class T, class F, class Affine>
Reader<T, F, Affine> reader(const View<T>& view, const Row& row, Index inner, Affine affine,
                            F point) {
  return {view, row, inner, affine, std::move(point)};
}

// One accumulator per element of a row.
template <class A>
class Accumulators {
 public:
  explicit Accumulators(Index longest) : accumulators_(static_cast<std::size_t>(longest)) {}
  void reset(Index length) { std::fill_n(accumulators_.begin(), length, A{}); }
  A& operator[](Index x) { return accumulators_[static_cast<std::size_t>(x)]; }

 private:
  std::vector<A> accumulators_;
};

}  // namespace touchstone
