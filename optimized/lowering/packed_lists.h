// Lists of numbers that are summed side by side with a row: products, squared differences or
// magnitudes of differences. Each sum keeps the order of its list.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/tensor.h"
#include "reference/lists.h"

namespace touchstone {

enum class Term { product, square, magnitude };

// Lists of equal length, transposed in blocks of as many lists as a vector operation sums.
template <class T>
class PackedLists {
 public:
  static constexpr Index together = 64 / sizeof(T);
  // Columns of a block that holds few lists.
  static constexpr Index few = together / 4;

  PackedLists() = default;
  PackedLists(const T* flat, Index lists, Index length)
      : lists_(lists),
        length_(length),
        columns_(lists <= few ? few : together),
        packed_(type_of<T>, Shape{blocks(), length, columns_}) {
    T* const to = packed_.template data<T>();
    std::fill_n(to, packed_.size(), T(0));
    for (Index e = 0; e < lists; ++e) {
      for (Index f = 0; f < length; ++f)
        to[(e / columns_ * length + f) * columns_ + e % columns_] = flat[e * length + f];
    }
  }
  Index lists() const { return lists_; }
  Index length() const { return length_; }
  Index blocks() const { return ceil_div(lists_, columns_); }

  // Calls use(list, sum) for the lists of one block.
  template <Term term, class F>
  void sums(const T* row, Index block, F use) const {
    if (columns_ == few)
      sums_of<few, term>(row, block, use);
    else
      sums_of<together, term>(row, block, use);
  }

 private:
  template <Index columns, Term term, class F>
  void sums_of(const T* row, Index block, F use) const {
    const T* from = packed_.template data<T>() + block * length_ * columns;
    T sums[static_cast<std::size_t>(columns)] = {};
    for (Index f = 0; f < length_; ++f, from += columns) {
      const T x = row[f];
      for (Index k = 0; k < columns; ++k) {
        const T apart = x - from[k];
        if constexpr (term == Term::product)
          sums[k] += x * from[k];
        else
          sums[k] += term == Term::square ? apart * apart : std::fabs(apart);
      }
    }
    const Index first = block * columns, some = std::min(columns, lists_ - first);
    for (Index k = 0; k < some; ++k) use(first + k, sums[k]);
  }

  Index lists_ = 0, length_ = 0, columns_ = together;
  Tensor packed_{type_of<T>, Shape{0}};
};

}  // namespace touchstone
