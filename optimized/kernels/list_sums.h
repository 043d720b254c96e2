// Kernels that sum products or differences of rows with several lists side by side, each sum in the
// order of its list. list_sums.cc is compiled once per instruction set.
#pragma once

#include <cstdint>

namespace touchstone::optimized {

enum class Term { product, square, magnitude };  // x * y, (x - y) * (x - y), |x - y|

// Arguments for some rows and one block of lists.
template <class T>
struct ListSums {
  using Stride = std::int64_t;
  static constexpr Stride together = 64 / sizeof(T);  // lists of a block

  const T* rows;
  Stride row, many;  // distance and number of the rows
  const T* lists;    // [element][list], as many lists as a block has
  Stride length;
  T* made;  // sum n, k is written to made[n * made_row + k * made_list]
  Stride made_row, made_list;
  Stride lists_made;  // of the block
};

// By term.
struct ListKernels {
  void (*singles[3])(const ListSums<float>& sums);
  void (*doubles[3])(const ListSums<double>& sums);
};

const ListKernels& list_sums_sse41();
const ListKernels& list_sums_avx2();
const ListKernels& list_sums_avx512();

}  // namespace touchstone::optimized
