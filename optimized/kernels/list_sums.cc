// Sums of rows with lists. Compiled once per instruction set, with TOUCHSTONE_VECTOR_BYTES and
// TOUCHSTONE_LIST_SUMS, without contraction of products and sums. Calls no inline function of the
// standard library, as in ordered.cc.
#include "optimized/kernels/list_sums.h"

namespace touchstone {

namespace {

using Stride = std::int64_t;
constexpr int bytes = 64;  // of a block's vector, which may take several registers
constexpr Stride together = TOUCHSTONE_VECTOR_BYTES / 16;  // rows whose sums fit the registers

template <class T>
struct Vectors {
  using Is __attribute__((vector_size(bytes))) = T;
  using Anywhere __attribute__((vector_size(bytes), aligned(alignof(T)), may_alias)) = T;
};

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

}  // namespace touchstone
