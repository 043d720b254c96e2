// Sums and extremes of rows: a vector of a row at a time, or a number of each of several short
// rows.
//
// Compiled once per instruction set, with TOUCHSTONE_VECTOR_BYTES and TOUCHSTONE_ROW_FOLDS. Calls
// no inline function of the standard library, so that the linker cannot pick code for a newer
// processor for the rest of the program.
#include "optimized/kernels/row_folds.h"

#include "optimized/kernels/row_loops.h"

namespace touchstone::optimized {
namespace {

// Reads numbers that are `count` apart.
inline Floats load_apart(const float* x, [[maybe_unused]] Bits places, std::int64_t count) {
#if defined(__AVX512F__)
  (void)count;
  return _mm512_i32gather_ps(reinterpret_cast<__m512i>(places), x, sizeof *x);
#elif defined(__AVX2__)
  (void)count;
  return _mm256_i32gather_ps(x, reinterpret_cast<__m256i>(places), sizeof *x);
#else
  return Floats{x[0], x[count], x[2 * count], x[3 * count]};
#endif
}

struct Sum {
  static Floats term(Floats x) { return x; }
};
struct Squares {
  static Floats term(Floats x) { return x * x; }
};
struct Magnitudes {
  static Floats term(Floats x) { return size_of(x); }
};

constexpr std::int64_t short_row = 16;  // numbers up to which rows are read side by side

// Calls folded(x, places) for a vector of short rows at a time, and alone(x) for those left over.
template <class Folded, class Alone>
inline void each_short_row(const float* x, float* y, std::int64_t rows, std::int64_t count,
                           Folded folded, Alone alone) {
  Bits places;
  for (int k = 0; k < lanes_at_once; ++k) places[k] = k * static_cast<std::int32_t>(count);
  std::int64_t row = 0;
  for (; row + one_vector <= rows; row += one_vector)
    store_vector(y + row, folded(x + row * count, places));
  for (; row < rows; ++row) y[row] = alone(x + row * count);
}

template <class Of>
void sums(const float* x, float* y, std::int64_t rows, std::int64_t count) {
  const auto alone = [&](const float* row) {
    return static_cast<float>(
        sum_of(row, count, [](std::int64_t, Floats some) { return Of::term(some); }));
  };
  if (count > short_row) {
    for (std::int64_t r = 0; r < rows; ++r) y[r] = alone(x + r * count);
    return;
  }
  const auto folded = [&](const float* first, Bits places) {
    Floats made = Of::term(load_apart(first, places, count));
    for (std::int64_t k = 1; k < count; ++k) made += Of::term(load_apart(first + k, places, count));
    return made;
  };
  each_short_row(x, y, rows, count, folded, alone);
}

template <bool smallest>
void extremes(const float* x, float* y, std::int64_t rows, std::int64_t count) {
  const auto alone = [&](const float* row) { return extreme<smallest>(row, count); };
  if (count > short_row) {
    for (std::int64_t r = 0; r < rows; ++r) y[r] = alone(x + r * count);
    return;
  }
  const auto folded = [&](const float* first, Bits places) {
    Floats made = load_apart(first, places, count);
    for (std::int64_t k = 1; k < count; ++k) {
      const Floats some = load_apart(first + k, places, count);
      const Bits better = (smallest ? some < made : some > made) | (some != some);
      made = choose(better, some, made);
    }
    return made;
  };
  each_short_row(x, y, rows, count, folded, alone);
}

}  // namespace

const RowFoldKernels TOUCHSTONE_ROW_FOLDS{.sum = sums<Sum>,
                                          .sum_of_squares = sums<Squares>,
                                          .sum_of_magnitudes = sums<Magnitudes>,
                                          .maximum = extremes<false>,
                                          .minimum = extremes<true>};

}  // namespace touchstone::optimized
