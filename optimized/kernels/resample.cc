// Resampling of rows, written as loops that a compiler vectorizes.
//
// Compiled once per instruction set, with TOUCHSTONE_RESAMPLE. Calls no inline function of the
// standard library, so that the linker cannot pick code for a newer processor for the rest of the
// program.
#include "optimized/kernels/resample.h"

namespace touchstone::optimized {

namespace {

using Count = std::int64_t;

// Sums of whole rows, with a number of taps that the compiler knows.
template <int taps, class Q>
void rows_of(const Q* const* rows, const Q* shares, Q* to, Count columns) {
  const Q* from[taps];
  Q share[taps];
  for (int t = 0; t < taps; ++t) from[t] = rows[t], share[t] = shares[t];
#pragma GCC ivdep
  for (Count j = 0; j < columns; ++j) {
    Q sum = from[0][j] * share[0];
    for (int t = 1; t < taps; ++t) sum += from[t][j] * share[t];
    to[j] = sum;
  }
}

template <class Q>
void sum_rows(const AxisSum<Q>& axis, Count first_row, Count rows, Count first, Count columns) {
  constexpr int few = 4;
  for (Count row = first_row; row < first_row + rows; ++row) {
    const Count outer = row / axis.extent, x = row % axis.extent;
    const Q* const plane = axis.from + outer * axis.in * axis.inner + first;
    Q* const to = axis.to + row * axis.inner + first;
    const auto source = [&](Count t) {
      return plane + axis.index[t * axis.extent + x] * axis.inner;
    };
    const Q* from[few];
    Q share[few];
    for (int t = 0; t < few && t < axis.taps; ++t)
      from[t] = source(t), share[t] = axis.share[t * axis.extent + x];
    if (axis.taps == 1) {
      rows_of<1>(from, share, to, columns);
      continue;
    }
    const bool many = axis.taps >= few;
    many ? rows_of<few>(from, share, to, columns) : rows_of<2>(from, share, to, columns);
    for (Count t = many ? few : 2; t < axis.taps; ++t) {
      const Q* const more = source(t);
      const Q by = axis.share[t * axis.extent + x];
#pragma GCC ivdep
      for (Count j = 0; j < columns; ++j) to[j] += more[j] * by;
    }
  }
}

template <int taps, class Q>
void gather(const AxisSum<Q>& axis, const Q* from, Q* to, Count first, Count columns) {
  const std::int32_t* const index = axis.index;
  const Q* const share = axis.share;
  const Count extent = axis.extent;
#pragma GCC ivdep
  for (Count x = first; x < first + columns; ++x) {
    Q sum = from[index[x]] * share[x];
    for (int t = 1; t < taps; ++t) sum += from[index[t * extent + x]] * share[t * extent + x];
    to[x] = sum;
  }
}

template <class Q>
void sum_columns(const AxisSum<Q>& axis, Count first_row, Count rows, Count first, Count columns) {
  for (Count row = first_row; row < first_row + rows; ++row) {
    const Q* const from = axis.from + row * axis.in;
    Q* const to = axis.to + row * axis.extent;
    if (axis.taps == 1) {
      gather<1>(axis, from, to, first, columns);
    } else if (axis.taps == 2) {
      gather<2>(axis, from, to, first, columns);
    } else if (axis.taps == 4) {
      gather<4>(axis, from, to, first, columns);
    } else {
      for (Count x = first; x < first + columns; ++x) {
        Q sum = 0;
        for (Count t = 0; t < axis.taps; ++t)
          sum += from[axis.index[t * axis.extent + x]] * axis.share[t * axis.extent + x];
        to[x] = sum;
      }
    }
  }
}

template <class Q>
void sum(const AxisSum<Q>& axis, Count first_row, Count rows, Count first, Count columns) {
  if (axis.inner > 1) return sum_rows(axis, first_row, rows, first, columns);
  sum_columns(axis, first_row, rows, first, columns);
}

void cells(const CellSums& sums, const float* image, Count channels, float* line, float* to) {
  const Count span = sums.high - sums.low;
  for (Count c = 0; c < channels; ++c, image += sums.channel) {
    for (Count p = 0; p < sums.rows; ++p) {
      for (Count j = 0; j < span; ++j) line[j] = 0;
      for (Count k = sums.first_row_tap[p]; k < sums.first_row_tap[p + 1]; ++k) {
        const CellSums::Tap tap = sums.row_taps[k];
        const float* const row = image + tap.at * sums.width + sums.low;
#pragma GCC ivdep
        for (Count j = 0; j < span; ++j) line[j] += row[j] * tap.share;
      }
      const bool any = sums.first_row_tap[p] < sums.first_row_tap[p + 1];
      for (Count q = 0; q < sums.columns; ++q, ++to) {
        float total = 0;
        for (Count k = sums.first_column_tap[q]; any && k < sums.first_column_tap[q + 1]; ++k)
          total += line[sums.column_taps[k].at - sums.low] * sums.column_taps[k].share;
        *to = total / sums.divisor;
      }
    }
  }
}

}  // namespace

const Resampling& TOUCHSTONE_RESAMPLE() {
  static constexpr Resampling table{sum<float>, sum<double>, cells};
  return table;
}

}  // namespace touchstone::optimized
