// Sums of rows with lists. Compiled once per instruction set, with TOUCHSTONE_VECTOR_BYTES and
// TOUCHSTONE_LIST_SUMS, without contraction of products and sums. Calls no inline function of the
// standard library, as in ordered.cc.
#include "optimized/kernels/list_sums.h"

namespace touchstone::optimized {

namespace {

using Stride = std::int64_t;
constexpr int bytes = 64;  // of a block's vector, which may take several registers
constexpr Stride together = TOUCHSTONE_VECTOR_BYTES / 16;  // rows whose sums fit the registers

template <class T>
struct Vectors {
  using Is __attribute__((vector_size(bytes))) = T;
  using Anywhere __attribute__((vector_size(bytes), aligned(alignof(T)), may_alias)) = T;
};

// Writes the sums of four rows that adjoin in the result: four numbers of a list at once.
template <class Vector>
inline void write_four(const Vector (&sums)[4], const ListSums<float>& s, float* made) {
  using Four __attribute__((vector_size(16), aligned(alignof(float)), may_alias)) = float;
  const auto store = [&](Stride list, Vector lists) {
    *reinterpret_cast<Four*>(made + list * s.made_list) =
        __builtin_shufflevector(lists, lists, 0, 1, 2, 3);
    *reinterpret_cast<Four*>(made + (list + 1) * s.made_list) =
        __builtin_shufflevector(lists, lists, 4, 5, 6, 7);
    *reinterpret_cast<Four*>(made + (list + 2) * s.made_list) =
        __builtin_shufflevector(lists, lists, 8, 9, 10, 11);
    *reinterpret_cast<Four*>(made + (list + 3) * s.made_list) =
        __builtin_shufflevector(lists, lists, 12, 13, 14, 15);
  };
  const auto pair = [](auto a, auto b, auto write, Stride list) {
    write(list,
          __builtin_shufflevector(a, b, 0, 1, 16, 17, 2, 3, 18, 19, 4, 5, 20, 21, 6, 7, 22, 23));
    write(list + 4, __builtin_shufflevector(a, b, 8, 9, 24, 25, 10, 11, 26, 27, 12, 13, 28, 29, 14,
                                            15, 30, 31));
  };
  const auto low = [](auto a, auto b) {
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  };
  const auto high = [](auto a, auto b) {
    return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15,
                                   31);
  };
  pair(low(sums[0], sums[1]), low(sums[2], sums[3]), store, 0);
  pair(high(sums[0], sums[1]), high(sums[2], sums[3]), store, 8);
}

template <class T, Term term, Stride rows>
inline void some_rows(const ListSums<T>& s, Stride first) {
  using Vector = typename Vectors<T>::Is;
  using Anywhere = typename Vectors<T>::Anywhere;
  Vector sums[rows];
#pragma GCC unroll 4
  for (Stride n = 0; n < rows; ++n) sums[n] = Vector{};
  const T* const x = s.rows + first * s.row;
  const T* list = s.lists;
  for (Stride f = 0; f < s.length; ++f, list += ListSums<T>::together) {
    const Vector y = *reinterpret_cast<const Anywhere*>(list);
#pragma GCC unroll 4
    for (Stride n = 0; n < rows; ++n) {
      const T number = x[n * s.row + f];
      if constexpr (term == Term::product) {
        sums[n] += number * y;
      } else {
        const Vector apart = number - y;
        if constexpr (term == Term::square)
          sums[n] += apart * apart;
        else
          sums[n] += apart < T(0) ? -apart : apart;
      }
    }
  }
  if constexpr (rows == 4 && sizeof(T) == sizeof(float)) {
    if (s.made_row == 1 && s.lists_made == ListSums<T>::together)
      return write_four(sums, s, s.made + first);
  }
#pragma GCC unroll 4
  for (Stride n = 0; n < rows; ++n) {
    T* const made = s.made + (first + n) * s.made_row;
    for (Stride k = 0; k < s.lists_made; ++k) made[k * s.made_list] = sums[n][k];
  }
}

template <class T, Term term>
void all_rows(const ListSums<T>& s) {
  Stride n = 0;
  for (; n + together <= s.many; n += together) some_rows<T, term, together>(s, n);
  for (; n < s.many; ++n) some_rows<T, term, 1>(s, n);
}

constexpr ListKernels kernels{{all_rows<float, Term::product>, all_rows<float, Term::square>,
                               all_rows<float, Term::magnitude>},
                              {all_rows<double, Term::product>, all_rows<double, Term::square>,
                               all_rows<double, Term::magnitude>}};

}  // namespace

const ListKernels& TOUCHSTONE_LIST_SUMS() { return kernels; }

}  // namespace touchstone::optimized
