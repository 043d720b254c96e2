// Copies of rows contiguous on both sides, included only by vector_copies.cc, once per instruction
// set: whole cache lines out of order, short rows by pieces, and non-temporal stores.
// docs/experiments/README.md gives the measurements behind the choices.
#pragma once

#include <cstddef>
#include <utility>

#include "optimized/kernels/vector_transpose.h"

namespace touchstone::optimized {

namespace {

using Bytes = VectorOf<std::uint8_t>;

inline void copy_vector(const char* from, char* to) {
  *reinterpret_cast<Bytes::Anywhere*>(to) = *reinterpret_cast<const Bytes::Anywhere*>(from);
}

constexpr Stride piece = 16;
inline __m128i load_piece(const char* at) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}
inline void stream_piece(char* at, __m128i v) {
  _mm_stream_si128(reinterpret_cast<__m128i*>(at), v);
}

// A grid of rows of `bytes` each; `block` rows along `row` are copied for each index along `next`.
// Passed by value, so that the compiler knows that no store can alias it.
struct Rows {
  const char* from;
  char* to;
  Grid source_strides, target_strides, extents;
  Stride bytes, block = 0;

  Stride size() const { return extents.row * extents.next * bytes; }
};

constexpr Stride line = 64, is_short = 4 * line;
constexpr Stride second_cache = 1 << 20, half_a_third_cache = 7 << 20;  // in bytes that are read

// Copies rows of `count` pieces of `width` bytes; the last piece may overlap the one before it.
template <int width, Stride count>
void copy_pieces(Rows rows) {
  using Piece = VectorOf<std::uint8_t, width>;
  const Stride bytes = rows.bytes;
  const auto at = [bytes](Stride v) { return v + 1 < count ? v * width : bytes - width; };
  for (Stride first = 0; first < rows.extents.row; first += rows.block) {
    const Stride left = rows.extents.row - first, block = rows.block < left ? rows.block : left;
    for (Stride k = 0; k < rows.extents.next; ++k) {
      const char* from = rows.from + first * rows.source_strides.row + k * rows.source_strides.next;
      char* to = rows.to + first * rows.target_strides.row + k * rows.target_strides.next;
#pragma GCC unroll 4
      for (Stride row = 0; row < block; ++row) {
        typename Piece::Dense held[count];
#pragma GCC unroll 16
        for (Stride v = 0; v < count; ++v)
          held[v] = *reinterpret_cast<const typename Piece::Anywhere*>(from + at(v));
#pragma GCC unroll 16
        for (Stride v = 0; v < count; ++v)
          *reinterpret_cast<typename Piece::Anywhere*>(to + at(v)) = held[v];
        from += rows.source_strides.row, to += rows.target_strides.row;
      }
    }
  }
}

// Copies rows of up to `is_short` bytes: by vectors, or by two smaller pieces.
template <std::size_t... count>
void copy_by_vectors(Rows rows, std::index_sequence<count...>) {
  static constexpr decltype(&copy_pieces<1, 1>) copies[] = {
      copy_pieces<vector_bytes, static_cast<Stride>(count) + 1>...};
  copies[(rows.bytes - 1) / vector_bytes](rows);
}
template <int width = vector_bytes>
void copy_short(Rows rows) {
  if (rows.bytes < width) {
    if constexpr (width > 1) copy_short<width / 2>(rows);
  } else if constexpr (width == vector_bytes) {
    copy_by_vectors(rows, std::make_index_sequence<is_short / vector_bytes>());
  } else {
    const auto copy = rows.bytes == width ? copy_pieces<width, 1> : copy_pieces<width, 2>;
    copy(rows);
  }
}

Stride length(Stride step) { return step < 0 ? -step : step; }
void turn(Rows& rows) {
  for (Grid* grid : {&rows.source_strides, &rows.target_strides, &rows.extents})
    *grid = {grid->next, grid->row};
}

// Rows of three words that are contiguous in `to`, such as points and colors. Four source rows,
// whose stride is at least their length, form three vectors.
constexpr Stride three_words = 12;
bool are_triples(const Rows& rows) {
  return rows.bytes == three_words && rows.target_strides.row == three_words &&
         rows.source_strides.row >= three_words && rows.extents.row >= 4;
}
template <bool past_caches>
void copy_triples(Rows rows) {
  using Words = VectorOf<std::uint32_t, piece>::Dense;
  const auto load = [](const char* at) { return reinterpret_cast<Words>(load_piece(at)); };
  const auto store = [](char* at, Words words) {
    if constexpr (past_caches) {
      stream_piece(at, reinterpret_cast<__m128i>(words));
    } else {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(at), reinterpret_cast<__m128i>(words));
    }
  };
  constexpr Stride max = 16;
  const Stride step = rows.source_strides.row;
  for (Stride first = 0; first < rows.extents.row; first += max) {
    const Stride left = rows.extents.row - first, block = max < left ? max : left;
    for (Stride k = 0; k < rows.extents.next; ++k) {
      const char* from = rows.from + first * step + k * rows.source_strides.next;
      char* to = rows.to + first * three_words + k * rows.target_strides.next;
      const auto four = [&](Stride row) {
        const char* source = from + row * step;
        char* target = to + row * three_words;
        const Words a = load(source), b = load(source + step), c = load(source + 2 * step),
                    d = load(source + 3 * step - 4);  // the last three words are this row's
        store(target, __builtin_shufflevector(a, b, 0, 1, 2, 4));
        store(target + piece, __builtin_shufflevector(b, c, 1, 2, 4, 5));
        store(target + 2 * piece, __builtin_shufflevector(d, c, 6, 1, 2, 3));
      };
#pragma GCC unroll 4
      for (Stride row = 0; row + 4 <= block; row += 4) four(row);
      if (block % 4 != 0) four(block - 4);
    }
  }
}

// True for rows longer than a line if both sides barely fit into L3. These are copied by pieces in
// the order of reads, even if they are whole lines.
bool hardly_fit(const Rows& rows) { return rows.size() >= half_a_third_cache && rows.bytes > line; }

// A block is a contiguous piece of one side, times the lines that it touches on the other. It
// follows the source if the other side's lines may be a page apart, and so in one set of L1. It
// also does if both sides fit into L2, or barely into L3.
void copy_short_grid(Rows rows) {
  constexpr Stride fewest = 4;
  const bool reads =
      rows.bytes == 16 || rows.bytes == 32 || rows.size() < second_cache || hardly_fit(rows);
  if (reads == (length(rows.source_strides.next) < length(rows.source_strides.row))) turn(rows);
  const Stride together = 512, max = reads ? 8 : 16,
               block = together / (fewest * rows.bytes) * fewest + fewest;
  rows.block = block < max ? block : max;
  copy_short(rows);
}

void copy_rows(const char* from, Stride from_row, char* to, Stride to_row, Stride rows,
               Stride bytes) {
  if (bytes <= is_short)
    return copy_short({from, to, {from_row, 0}, {to_row, 0}, {rows, 1}, bytes, rows});
  for (Stride row = 0; row < rows; ++row, from += from_row, to += to_row) {
    if (bytes >= long_row) {
      __builtin_memcpy(to, from, static_cast<std::size_t>(bytes));
      continue;
    }
    // A call of memcpy takes longer than such a row.
    for (Stride k = 0; k < bytes; k += vector_bytes) {
      const Stride at = inside(k, vector_bytes, bytes);
      copy_vector(from + at, to + at);
    }
  }
}

// Permutes the order in which lines are copied. In their natural order, processors would prefetch
// beyond a row's end, which costs a third of L1's fill bandwidth. Within L2, all distances between
// consecutive lines of sixty-four differ; beyond L2, where some prefetching pays, nearby lines stay
// close.
struct Order {
  Stride group;
  Stride operator()(Stride k) const {
    constexpr Stride near[] = {0, 3, 1, 2};
    const Stride j = k % group;
    return k - j + (group == 4 ? near[j] : j * (4 * j + 3) % group);
  }
};

// Copies grids of whole lines: one line of each of several rows, then the next. The loop is not
// unrolled, since load instructions with constant strides of their own would trigger the
// prefetcher. The last line of a row, and the last rows, may overlap the ones before them.
constexpr Stride rows_by_lines = vector_bytes > 16 ? 8 : 4;
void copy_lines(Rows rows) {
  const Grid source_strides = rows.source_strides, target_strides = rows.target_strides,
             extents = rows.extents;
  constexpr Stride vectors = line / vector_bytes, max = 128;
  const Stride lines = (rows.bytes + line - 1) / line, all = extents.next * lines;
  const Order order{rows.size() < second_cache ? 64 : 4};
  const Stride groups = (all + order.group - 1) / order.group * order.group;
  for (Stride first = 0; first < all; first += max) {
    struct {
      Stride from, to;
    } places[max];
    Stride count = 0;
    for (Stride k = first; k < first + max && k < groups; ++k) {
      const Stride wanted = order(k);
      if (wanted >= all) continue;
      const Stride next = wanted / lines, at = inside(wanted % lines * line, line, rows.bytes);
      places[count++] = {next * source_strides.next + at, next * target_strides.next + at};
    }
    for (Stride k = 0; k < extents.row; k += rows_by_lines) {
      const Stride row = inside(k, rows_by_lines, extents.row);
#pragma GCC unroll 1
      for (Stride place = 0; place < count; ++place) {
        const char* source = rows.from + row * source_strides.row + places[place].from;
        char* target = rows.to + row * target_strides.row + places[place].to;
        Bytes::Dense held[rows_by_lines * vectors];
#pragma GCC unroll 32
        for (Stride v = 0; v < rows_by_lines * vectors; ++v)
          held[v] = *reinterpret_cast<const Bytes::Anywhere*>(
              source + v / vectors * source_strides.row + v % vectors * vector_bytes);
#pragma GCC unroll 32
        for (Stride v = 0; v < rows_by_lines * vectors; ++v)
          *reinterpret_cast<Bytes::Anywhere*>(target + v / vectors * target_strides.row +
                                              v % vectors * vector_bytes) = held[v];
      }
    }
  }
}

void copy_grid(const char* from, Grid source_strides, char* to, Grid target_strides, Grid extents,
               Stride bytes) {
  Rows rows{from, to, source_strides, target_strides, extents, bytes};
  const bool lines = bytes > is_short || (bytes % line == 0 && !hardly_fit(rows));
  if (lines && bytes < long_row &&
      (extents.row >= rows_by_lines || extents.next >= rows_by_lines)) {
    if (extents.row < extents.next) turn(rows);
    return copy_lines(rows);
  }
  if (target_strides.next == bytes) turn(rows);
  if (are_triples(rows)) return copy_triples<false>(rows);
  if (bytes <= is_short) return copy_short_grid(rows);
  for (Stride k = 0; k < extents.next; ++k, from += source_strides.next, to += target_strides.next)
    copy_rows(from, source_strides.row, to, target_strides.row, extents.row, bytes);
}

// Distance in bytes at which non-temporal copies prefetch each source row.
constexpr Stride prefetch_distance = 1024;

// Rows of `count` pieces, contiguous in `to`, which is aligned to a piece.
template <Stride count>
void stream_pieces(const char* from, Stride from_row, char* to, Stride rows) {
  for (Stride row = 0; row < rows; ++row, from += from_row, to += count * piece) {
    __builtin_prefetch(from + prefetch_distance);
#pragma GCC unroll 4
    for (Stride k = 0; k < count; ++k) stream_piece(to + k * piece, load_piece(from + k * piece));
  }
}

// The same for lengths and addresses that are multiples of four. Rows have at least one piece; a
// piece may span the end of one row and the beginning of the next.
void stream_rows(const char* from, Stride from_row, char* to, Stride rows, Stride bytes) {
  const auto stream_four = [](char* at, const char* source) {
    int four;
    __builtin_memcpy(&four, source, sizeof four);
    _mm_stream_si32(reinterpret_cast<int*>(at), four);
  };
  Stride at = 0;  // bytes of the row written so far
  for (; reinterpret_cast<std::uintptr_t>(to + at) % piece != 0; at += 4)
    stream_four(to + at, from + at);
  if (at == 0 && bytes % piece == 0 && bytes <= line) {
    static constexpr decltype(&stream_pieces<1>) streams[] = {stream_pieces<1>, stream_pieces<2>,
                                                              stream_pieces<3>, stream_pieces<4>};
    return streams[bytes / piece - 1](from, from_row, to, rows);
  }
  for (Stride row = 0; row < rows; ++row, from += from_row, to += bytes) {
    for (Stride byte = 0; byte < bytes; byte += line)
      __builtin_prefetch(from + prefetch_distance + byte);
    for (; at + piece <= bytes; at += piece) stream_piece(to + at, load_piece(from + at));
    const Stride left = bytes - at;
    if (left > 0 && row + 1 < rows) {
      const __m128i end = load_piece(from + bytes - piece), begin = load_piece(from + from_row);
      stream_piece(to + at, left == 4   ? _mm_alignr_epi8(begin, end, 12)
                            : left == 8 ? _mm_alignr_epi8(begin, end, 8)
                                        : _mm_alignr_epi8(begin, end, 4));
      at = piece - left;
    } else {
      for (; at < bytes; at += 4) stream_four(to + at, from + at);
      at = 0;
    }
  }
}

void stream_grid(const char* from, Grid source_strides, char* to, Grid target_strides, Grid extents,
                 Stride bytes) {
  if (bytes == three_words) {
    const Rows triples{from, to, source_strides, target_strides, extents, bytes};
    const bool pieces = reinterpret_cast<std::uintptr_t>(to) % piece == 0 &&
                        target_strides.next % piece == 0 && extents.row % 4 == 0;
    if (!pieces || !are_triples(triples))
      return copy_grid(from, source_strides, to, target_strides, extents, bytes);
    copy_triples<true>(triples);
    return _mm_sfence();
  }
  constexpr Stride together = 256, fewest = 8;  // number of source streams
  const Stride some = together / bytes > fewest ? together / bytes : fewest;
  for (Stride row = 0; row < extents.row; row += some) {
    const Stride rows = row + some < extents.row ? some : extents.row - row;
    for (Stride k = 0; k < extents.next; ++k) {
      stream_rows(from + row * source_strides.row + k * source_strides.next, source_strides.row,
                  to + row * bytes + k * target_strides.next, rows, bytes);
    }
  }
  _mm_sfence();  // makes the stores visible before another thread is notified
}

}  // namespace

}  // namespace touchstone::optimized
