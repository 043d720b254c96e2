// Copies tensors between arbitrary strides and selects the fastest routine. Rows contiguous on both
// sides are copied. Planes contiguous along different dimensions are transposed in registers. The
// rest is copied by elements.
#include "optimized/kernels/strided_copy.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "optimized/kernels/vector_copies.h"

namespace touchstone::optimized {

const VectorCopies& vector_copies(Isa isa) { return BY_ISA(isa, vector_copies)(); }

namespace {

constexpr std::size_t rank = StridedCopy::rank;

// Rotates dimension `d` to position `to`; the others keep their order.
StridedCopy brought(StridedCopy move, std::size_t d, std::size_t to) {
  for (auto* list : {&move.extents, &move.source_strides, &move.target_strides}) {
    if (d > to) std::rotate(list->begin() + to, list->begin() + d, list->begin() + d + 1);
  }
  return move;
}

// Calls `each` with both offsets of every point of the dimensions from `first` on.
template <class F>
void each_point(const StridedCopy& move, std::size_t first, F each) {
  std::array<Index, rank> at{};
  Index from = 0, to = 0;
  for (;;) {
    each(from, to);
    std::size_t d = first;
    for (; d < rank; ++d) {
      from += move.source_strides[d], to += move.target_strides[d];
      if (++at[d] < move.extents[d]) break;
      from -= at[d] * move.source_strides[d], to -= at[d] * move.target_strides[d];
      at[d] = 0;
    }
    if (d == rank) return;
  }
}

template <class T>
void by_elements(const StridedCopy& move, const T* from, T* to) {
  const Index count = move.extents[0], step = move.source_strides[0],
              along = move.target_strides[0];
  each_point(move, 1, [&](Index f, Index t) {
    const T* source = from + f;
    T* target = to + t;
    for (Index k = 0; k < count; ++k) target[k * along] = source[k * step];
  });
}

// True if non-temporal stores pay: the output exceeds most of L3 and would be evicted before it is
// read, so a store need not wait for its cache line. Slightly above that size, a later reader loses
// as much as is gained here. Required: rows are written one after another, and read from places
// near each other.
bool streams(const StridedCopy& move, int bytes, const void* from, const void* to) {
  constexpr Index past_caches = 12 << 20, triple = 12, shortest = 16;
  const Index row = move.extents[0], size = row * bytes;
  const Index all = move.whole > 0 ? move.whole : move.elements();
  return all * bytes >= past_caches && bytes % 4 == 0 && (size == triple || size >= shortest) &&
         size < long_row && move.target_strides[1] == row && move.source_strides[2] == row &&
         (reinterpret_cast<std::uintptr_t>(from) | reinterpret_cast<std::uintptr_t>(to)) % 4 == 0;
}

// Dimension 0 is contiguous on both sides.
void by_rows(const VectorCopies& moves, const StridedCopy& move, int bytes, const char* from,
             char* to) {
  const auto steps = [&](const std::array<Index, rank>& of) {
    return Grid{of[1] * bytes, of[2] * bytes};
  };
  const auto copy = streams(move, bytes, from, to) ? moves.stream_grid : moves.copy_grid;
  each_point(move, 3, [&](Index f, Index t) {
    copy(from + f * bytes, steps(move.source_strides), to + t * bytes, steps(move.target_strides),
         {move.extents[1], move.extents[2]}, move.extents[0] * bytes);
  });
}

// True if the contiguous runs along dimension `dense`, on both sides, can be treated as elements of
// two, four or eight bytes.
bool are_elements(const StridedCopy& move, std::size_t dense, int bytes, const void* from,
                  const void* to) {
  const Index row = move.extents[dense], size = row * bytes;
  if (size != 2 && size != 4 && size != 8) return false;
  for (std::size_t d = 0; d < rank; ++d) {
    if (d != dense && (move.source_strides[d] % row != 0 || move.target_strides[d] % row != 0))
      return false;
  }
  const auto addresses =
      reinterpret_cast<std::uintptr_t>(from) | reinterpret_cast<std::uintptr_t>(to);
  return addresses % static_cast<std::uintptr_t>(size) == 0;
}

// Returns the same copy in units of these elements.
StridedCopy of_elements(StridedCopy move, std::size_t dense) {
  const Index row = std::exchange(move.extents[dense], 1);
  for (auto* list : {&move.source_strides, &move.target_strides})
    for (Index& step : *list) step /= row;
  move.whole /= row;
  return move;
}

// Dimension 0 is contiguous in the source, dimension 1 in the target.
template <class T, class F>
void by_planes(const StridedCopy& move, F transpose, const T* from, T* to) {
  each_point(move, 2, [&](Index f, Index t) {
    transpose(from + f, move.source_strides[1], to + t, move.target_strides[0], move.extents[1],
              move.extents[0]);
  });
}

}  // namespace

void run_strided_copy(Isa isa, const StridedCopy& given, int bytes, const void* from, void* to) {
  if (std::find(given.extents.begin(), given.extents.end(), 0) != given.extents.end()) return;
  constexpr Index short_run = 1024;  // bytes that are copied at once, without a choice of loops
  const Index elements = given.elements();
  if (given.extents[0] == elements && given.source_strides[0] == 1 &&
      given.target_strides[0] == 1 && elements * bytes <= short_run) {
    std::memcpy(to, from, static_cast<std::size_t>(elements * bytes));
    return;
  }
  StridedCopy move = given;
  // Dimensions of extent 1 become the outermost, and their strides 0.
  for (std::size_t d = rank; d-- > 0;) {
    if (move.extents[d] != 1) continue;
    move.source_strides[d] = move.target_strides[d] = 0;
    for (auto* list : {&move.extents, &move.source_strides, &move.target_strides})
      std::rotate(list->begin() + d, list->begin() + d + 1, list->end());
  }
  const auto dense = [&](const std::array<Index, rank>& steps) {
    for (std::size_t d = 0; d < rank; ++d) {
      if (move.extents[d] > 1 && steps[d] == 1) return d;
    }
    return rank;
  };
  const std::size_t here = dense(move.source_strides), there = dense(move.target_strides);
  const VectorCopies& moves = vector_copies(isa);
  if (here < rank && move.target_strides[here] == 1) {
    if (are_elements(move, here, bytes, from, to)) {
      return run_strided_copy(isa, of_elements(move, here),
                              static_cast<int>(move.extents[here] * bytes), from, to);
    }
    return by_rows(moves, brought(move, here, 0), bytes, static_cast<const char*>(from),
                   static_cast<char*>(to));
  }
  if (here < rank && there < rank && bytes >= 4) {
    // Makes the source's contiguous dimension the innermost and the target's the next.
    move = brought(move, here, 0);
    move = brought(move, there < here ? there + 1 : there, 1);
    if (bytes == 4) {
      return by_planes(move, moves.transpose32, static_cast<const std::uint32_t*>(from),
                       static_cast<std::uint32_t*>(to));
    }
    return by_planes(move, moves.transpose64, static_cast<const std::uint64_t*>(from),
                     static_cast<std::uint64_t*>(to));
  }
  if (there < rank) move = brought(move, there, 0);
  switch (bytes) {
    case 1:
      return by_elements(move, static_cast<const std::uint8_t*>(from),
                         static_cast<std::uint8_t*>(to));
    case 2:
      return by_elements(move, static_cast<const std::uint16_t*>(from),
                         static_cast<std::uint16_t*>(to));
    case 4:
      return by_elements(move, static_cast<const std::uint32_t*>(from),
                         static_cast<std::uint32_t*>(to));
    case 8:
      return by_elements(move, static_cast<const std::uint64_t*>(from),
                         static_cast<std::uint64_t*>(to));
    default:
      BUG("an element of a size that there is not");
  }
}

}  // namespace touchstone::optimized
