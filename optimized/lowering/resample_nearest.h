// Resampling that copies the nearest elements: of one axis, or of the last two together.
#pragma once

#include <algorithm>
#include <cstring>

#include "optimized/lowering/moves.h"
#include "optimized/lowering/resample_axes.h"

namespace touchstone::optimized {

struct AxisExtents {
  Index outer, inner;  // of the axes around one axis
};
inline AxisExtents around(const Shape& shape, Index axis) {
  return {count(head(shape, axis)), count(tail(shape, axis + 1))};
}

// Splits `rows` by `columns` elements among the threads: take(first row, rows, first column,
// columns). `terms`: reads an element.
template <class F>
void split_grid(RunState& state, Index rows, Index columns, Index terms, F take) {
  const Index wanted = parts_for(state.pool.size());
  const Index across =
      std::max<Index>(1, std::min(columns / 1024, wanted / std::max<Index>(rows, 1)));
  const Index down = std::min(rows, wanted), high = (rows + down - 1) / down;
  const Index wide = (columns + across - 1) / across;
  const double work = static_cast<double>(rows) * static_cast<double>(columns) *
                      static_cast<double>(terms) * nanoseconds_an_element;
  state.each(down * across, work, [&](Index part, Index) {
    const Index row = std::min(part / across * high, rows);
    const Index column = std::min(part % across * wide, columns);
    take(row, std::min(high, rows - row), column, std::min(wide, columns - column));
  });
}

template <class Unit>
void pick_elements(const std::byte* from, const std::int32_t* index, std::byte* to, Index count) {
  const auto* const source = reinterpret_cast<const Unit*>(from);
  auto* const target = reinterpret_cast<Unit*>(to);
  for (Index x = 0; x < count; ++x) target[x] = source[index[x]];
}

// Copies the elements of `bytes` each that the axis names.
inline void pick_along(RunState& state, const std::byte* from, std::byte* to,
                       const ResampledAxis& axis, AxisExtents extents, Index bytes) {
  const auto* const index = axis.index.data<std::int32_t>();
  if (extents.inner > 1) {
    const Index length = extents.inner * bytes;
    split_grid(state, extents.outer * axis.out, length, 1,
               [&](Index row, Index rows, Index at, Index n) {
                 for (Index k = row; k < row + rows; ++k) {
                   const Index source = k / axis.out * axis.in + index[k % axis.out];
                   std::memcpy(to + k * length + at, from + source * length + at,
                               static_cast<std::size_t>(n));
                 }
               });
    return;
  }
  using Row = void (*)(const std::byte*, const std::int32_t*, std::byte*, Index);
  Row copied = nullptr;
  with_sized_bytes(bytes, [&]<class T>() { copied = pick_elements<T>; });
  split_grid(state, extents.outer, axis.out, 1, [&](Index row, Index rows, Index at, Index n) {
    for (Index k = row; k < row + rows; ++k)
      copied(from + k * axis.in * bytes, index + at, to + (k * axis.out + at) * bytes, n);
  });
}

// Copies the elements that the last two axes name. A row that names the same as the row before is a
// copy of that row.
inline void pick_images(RunState& state, const std::byte* from, std::byte* to,
                        const ResampledAxis& rows, const ResampledAxis& columns, Index images,
                        Index bytes) {
  const auto* const row_of = rows.index.data<std::int32_t>();
  const auto* const column_of = columns.index.data<std::int32_t>();
  const Index read = columns.in * bytes, written = columns.out * bytes;
  with_sized_bytes(bytes, [&]<class T>() {
    split_grid(state, images * rows.out, columns.out, 1,
               [&](Index row, Index many, Index at, Index n) {
                 for (Index k = row; k < row + many; ++k) {
                   const Index y = k % rows.out;
                   std::byte* const made = to + k * written + at * bytes;
                   if (k > row && y > 0 && row_of[y] == row_of[y - 1]) {
                     std::memcpy(made, made - written, static_cast<std::size_t>(n * bytes));
                   } else {
                     pick_elements<T>(from + (k / rows.out * rows.in + row_of[y]) * read,
                                      column_of + at, made, n);
                   }
                 }
               });
  });
}

}  // namespace touchstone::optimized
