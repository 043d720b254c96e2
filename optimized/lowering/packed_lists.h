// Lists of numbers that are summed with rows: products, squared differences or magnitudes of
// differences. Each sum keeps the order of its list.
#pragma once

#include <algorithm>
#include <type_traits>

#include "core/budget.h"
#include "core/numbers/storage.h"
#include "core/tensor.h"
#include "optimized/kernels/list_sums.h"
#include "reference/lists.h"

namespace touchstone::optimized {

const ListKernels& list_kernels();

// Lists of equal length, transposed in blocks of as many lists as a kernel sums side by side.
template <class T>
class PackedLists {
 public:
  static constexpr Index together = ListSums<T>::together;

  PackedLists() = default;
  PackedLists(const T* flat, Index lists, Index length)
      : lists_(lists), length_(length), packed_(type_of<T>, Shape{blocks(), length, together}) {
    T* const to = packed_.template data<T>();
    std::fill_n(to, packed_.size(), T(0));
    for (Index e = 0; e < lists; ++e) {
      for (Index f = 0; f < length; ++f)
        to[(e / together * length + f) * together + e % together] = flat[e * length + f];
    }
  }
  Index lists() const { return lists_; }
  Index length() const { return length_; }
  Index blocks() const { return ceil_div(lists_, together); }

  // Writes the sums of some rows, which adjoin, with the lists of one block: that of row n and list
  // e to made[n * made_row + e * made_list].
  void sums(Term term, const T* rows, Index many, Index block, T* made, Index made_row,
            Index made_list) const {
    const Index first = block * together, some = std::min(together, lists_ - first);
    charge_work(many * some * (1 + length_));
    const ListSums<T> sums{rows,     length_,
                           many,     packed_.template data<T>() + first * length_,
                           length_,  made + first * made_list,
                           made_row, made_list,
                           some};
    if constexpr (std::is_same_v<T, float>)
      list_kernels().singles[static_cast<int>(term)](sums);
    else
      list_kernels().doubles[static_cast<int>(term)](sums);
  }
  // With the lists of all blocks.
  void all_sums(Term term, const T* rows, Index many, T* made, Index made_row,
                Index made_list) const {
    for (Index block = 0; block < blocks(); ++block)
      sums(term, rows, many, block, made, made_row, made_list);
  }

 private:
  Index lists_ = 0, length_ = 0;
  Tensor packed_{type_of<T>, Shape{0}};
};

}  // namespace touchstone::optimized
