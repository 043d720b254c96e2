// Moves by vectors: transposes, rows that are dense on both sides, channel blocks, weights.
//
// Compiled once for each instruction set, with TOUCHSTONE_VECTOR_BYTES and TOUCHSTONE_VECTOR_MOVES.
// So that no code for a newer processor gets into the rest, nothing of the standard library's that
// is inline is called here.
#include "optimized/kernels/vector_moves.h"

#include <utility>

#include "optimized/kernels/vector_transpose.h"

namespace touchstone {

namespace {

using Bytes = VectorOf<std::uint8_t>;

inline void copy_vector(const char* from, char* to) {
  *reinterpret_cast<Bytes::Anywhere*>(to) = *reinterpret_cast<const Bytes::Anywhere*>(from);
}

// Short rows: a call of memcpy takes longer than they do.
inline void copy_short(const char* from, char* to, Steps bytes) {
  Steps at = 0;
  if (bytes >= vector_bytes) {
    for (; at + vector_bytes <= bytes; at += vector_bytes) copy_vector(from + at, to + at);
    const Steps piece = 16;  // what is left lies in fewer lines than a vector
    if (bytes - at > piece) {
      copy_vector(from + bytes - vector_bytes, to + bytes - vector_bytes);
    } else if (at < bytes) {
      __builtin_memcpy(to + bytes - piece, from + bytes - piece, piece);
    }
    return;
  }
  for (; at + 8 <= bytes; at += 8) __builtin_memcpy(to + at, from + at, 8);
  for (; at + 4 <= bytes; at += 4) __builtin_memcpy(to + at, from + at, 4);
  for (; at < bytes; ++at) to[at] = from[at];
}

void copy_rows(const char* from, Steps from_row, char* to, Steps to_row, Steps rows, Steps bytes) {
  for (Steps row = 0; row < rows; ++row, from += from_row, to += to_row) {
    if (bytes < long_row) {
      copy_short(from, to, bytes);
    } else {
      __builtin_memcpy(to, from, static_cast<std::size_t>(bytes));
    }
  }
}

// Rows along both dimensions: a line of each of some rows, then another, and not in the order in
// which they lie. In order, or if each instruction went by a step of its own, processors would
// fetch what lies behind a row's end, and that takes a third of what they can bring to the first
// cache. So it is one loop, that is not unrolled. The last line of a row, and the last rows, may
// lie over those before them.
constexpr Steps line = 64, rows_by_lines = vector_bytes > 16 ? 8 : 4;
void copy_lines(const char* from, Grid from_steps, char* to, Grid to_steps, Grid extents,
                Steps bytes) {
  constexpr Steps vectors = line / vector_bytes, most = 128, order[] = {0, 3, 1, 2};
  const Steps lines = (bytes + line - 1) / line, all = extents.next * lines;
  for (Steps first = 0; first < all; first += most) {
    struct {
      Steps from, to;
    } places[most];
    Steps count = 0;
    for (Steps k = first; k < first + most; ++k) {
      const Steps wanted = k / 4 * 4 + order[k % 4];
      if (wanted >= all) continue;
      const Steps next = wanted / lines, at = inside(wanted % lines * line, line, bytes);
      places[count++] = {next * from_steps.next + at, next * to_steps.next + at};
    }
    for (Steps k = 0; k < extents.row; k += rows_by_lines) {
      const Steps row = inside(k, rows_by_lines, extents.row);
#pragma GCC unroll 1
      for (Steps place = 0; place < count; ++place) {
        const char* source = from + row * from_steps.row + places[place].from;
        char* target = to + row * to_steps.row + places[place].to;
        Bytes::Dense held[rows_by_lines * vectors];
#pragma GCC unroll 32
        for (Steps v = 0; v < rows_by_lines * vectors; ++v)
          held[v] = *reinterpret_cast<const Bytes::Anywhere*>(
              source + v / vectors * from_steps.row + v % vectors * vector_bytes);
#pragma GCC unroll 32
        for (Steps v = 0; v < rows_by_lines * vectors; ++v)
          *reinterpret_cast<Bytes::Anywhere*>(target + v / vectors * to_steps.row +
                                              v % vectors * vector_bytes) = held[v];
      }
    }
  }
}

// Rows of less than a few lines, and of no whole lines, by tiles: of what is loaded around a row
// the next is not loaded again, and what is written stands together. A tile has no more lines each
// way than a set of the first cache has places, since all its rows often lie in one. Those of the
// tile after it, which lie in other pages, are asked for.
void copy_tiles(const char* from, Grid from_steps, char* to, Grid to_steps, Grid extents,
                Steps bytes) {
  constexpr Steps near = 640;
  const Steps some = near / (from_steps.next < 0 ? -from_steps.next : from_steps.next);
  for (Steps row = 0; row < extents.row; row += some) {
    const Steps rows = row + some < extents.row ? some : extents.row - row;
    for (Steps k = 0; k < extents.next; k += some) {
      const Steps end = k + some < extents.next ? k + some : extents.next;
      for (Steps at = k; at < end; ++at) {
        const Steps ahead = row + at - k;
        if (end + some <= extents.next && ahead < extents.row) {
          for (Steps byte = 0; byte < near; byte += line)
            __builtin_prefetch(from + ahead * from_steps.row + end * from_steps.next + byte);
        }
        const char* source = from + row * from_steps.row + at * from_steps.next;
        char* target = to + row * to_steps.row + at * to_steps.next;
        for (Steps r = 0; r < rows; ++r, source += from_steps.row, target += to_steps.row)
          copy_short(source, target, bytes);
      }
    }
  }
}

void copy_grid(const char* from, Grid from_steps, char* to, Grid to_steps, Grid extents,
               Steps bytes) {
  constexpr Steps is_short = 4 * line, large = 1 << 20;
  const bool lines = bytes < long_row && (bytes % line == 0 || bytes >= is_short);
  if (lines && (extents.row >= rows_by_lines || extents.next >= rows_by_lines)) {
    if (extents.row < extents.next) {
      const auto turn = [](Grid& grid) { grid = {grid.next, grid.row}; };
      turn(extents), turn(from_steps), turn(to_steps);
    }
    return copy_lines(from, from_steps, to, to_steps, extents, bytes);
  }
  const auto length = [](Steps step) { return step < 0 ? -step : step; };
  const Steps next = length(from_steps.next);
  const bool stays = next > 2 * line && extents.row * extents.next * bytes < large;
  if (next > 0 && next < is_short && next < length(from_steps.row) && !stays)
    return copy_tiles(from, from_steps, to, to_steps, extents, bytes);
  for (Steps k = 0; k < extents.next; ++k, from += from_steps.next, to += to_steps.next)
    copy_rows(from, from_steps.row, to, to_steps.row, extents.row, bytes);
}

// Rows that lie together in `to`, past the caches: in pieces of sixteen bytes, one of which may be
// the end of a row and the beginning of the next. Bytes and places are multiples of four, and a row
// is no shorter than a piece. What lies `ahead` in each row that is read is asked for.
void stream_rows(const char* from, Steps from_row, char* to, Steps rows, Steps bytes) {
  constexpr Steps piece = 16, ahead = 1024;
  const auto load = [](const char* at) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  };
  const auto stream = [](char* at, __m128i v) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(at), v);
  };
  const auto stream_four = [](char* at, const char* source) {
    int four;
    __builtin_memcpy(&four, source, sizeof four);
    _mm_stream_si32(reinterpret_cast<int*>(at), four);
  };
  Steps at = 0;  // what of the row is written
  for (; reinterpret_cast<std::uintptr_t>(to + at) % piece != 0; at += 4)
    stream_four(to + at, from + at);
  for (Steps row = 0; row < rows; ++row, from += from_row, to += bytes) {
    for (Steps byte = 0; byte < bytes; byte += line) __builtin_prefetch(from + ahead + byte);
    for (; at + piece <= bytes; at += piece) stream(to + at, load(from + at));
    const Steps left = bytes - at;
    if (left > 0 && row + 1 < rows) {
      const __m128i end = load(from + bytes - piece), begin = load(from + from_row);
      stream(to + at, left == 4   ? _mm_alignr_epi8(begin, end, 12)
                      : left == 8 ? _mm_alignr_epi8(begin, end, 8)
                                  : _mm_alignr_epi8(begin, end, 4));
      at = piece - left;
    } else {
      for (; at < bytes; at += 4) stream_four(to + at, from + at);
      at = 0;
    }
  }
}

void stream_grid(const char* from, Grid from_steps, char* to, Grid to_steps, Grid extents,
                 Steps bytes) {
  constexpr Steps some = 8;  // as many streams are read
  for (Steps row = 0; row < extents.row; row += some) {
    const Steps rows = row + some < extents.row ? some : extents.row - row;
    for (Steps k = 0; k < extents.next; ++k) {
      stream_rows(from + row * from_steps.row + k * from_steps.next, from_steps.row,
                  to + row * bytes + k * to_steps.next, rows, bytes);
    }
  }
  _mm_sfence();  // another thread may be told that they are written
}

void repeat(const float* from, Steps from_column, float* to, Steps to_column, Steps count,
            Steps times) {
  using V = VectorOf<float>;
  constexpr Steps lanes = vector_bytes == 64 ? 16 : 8;
  for (Steps k = 0; k < count; ++k, from += from_column) {
    for (Steps t = 0; t < times; ++t, to += to_column) copy_vectors<V>(from, to, lanes);
  }
}

void scale_rows(const float* from, const float* by, float* to, Steps rows, Steps width) {
  for (Steps row = 0; row < rows; ++row, from += width, to += width) {
    const float factor = by[row];
#pragma GCC ivdep
    for (Steps at = 0; at < width; ++at) to[at] = from[at] * factor;
  }
}

// The rows of G: what a tap weighs in each product.
template <int points>
constexpr double transform[points + 2][3] = {
    {1 / 4., 0, 0},
    {-1 / 6., -1 / 6., -1 / 6.},
    {-1 / 6., 1 / 6., -1 / 6.},
    {1 / 24., 1 / 12., 1 / 6.},
    {1 / 24., -1 / 12., 1 / 6.},
    {0, 0, 1},
};
template <>
constexpr double transform<2>[4][3] = {{1, 0, 0}, {.5, .5, .5}, {.5, -.5, .5}, {0, 0, 1}};

// The sum is that of all nine taps in their order: those that weigh nothing add nothing.
template <int points, int product, class V, std::size_t... tap>
inline V weighed(const V* taps, std::index_sequence<tap...>) {
  constexpr const double* down = transform<points>[product / (points + 2)];
  constexpr const double* across = transform<points>[product % (points + 2)];
  V sum{};
  (
      [&] {
        constexpr double factor = down[tap / 3] * across[tap % 3];
        if constexpr (factor != 0) sum += factor * taps[tap];
      }(),
      ...);
  return sum;
}

template <int points, std::size_t... product>
void winograd_weights(const float* taps, float* to, Steps step, Steps width,
                      std::index_sequence<product...>) {
  using Double = VectorOf<double>;
  using Float = VectorOf<float, vector_bytes / 2>;
  for (Steps k = 0; k < width; k += Double::lanes) {
    typename Double::Dense wide[9];
#pragma GCC unroll 9
    for (int tap = 0; tap < 9; ++tap) {
      const typename Float::Dense narrow =
          *reinterpret_cast<const typename Float::Anywhere*>(taps + tap * width + k);
      wide[tap] = __builtin_convertvector(narrow, typename Double::Dense);
    }
    ((*reinterpret_cast<typename Float::Anywhere*>(to + static_cast<Steps>(product) * step + k) =
          __builtin_convertvector((weighed<points, product>(wide, std::make_index_sequence<9>())),
                                  typename Float::Dense)),
     ...);
  }
}

template <int points>
void winograd_weights(const float* taps, float* to, Steps step, Steps width) {
  winograd_weights<points>(taps, to, step, width,
                           std::make_index_sequence<(points + 2) * (points + 2)>());
}

}  // namespace

const VectorMoves& TOUCHSTONE_VECTOR_MOVES() {
  static constexpr VectorMoves moves{transpose<std::uint32_t>,
                                     transpose<std::uint64_t>,
                                     copy_rows,
                                     copy_grid,
                                     stream_grid,
                                     repeat,
                                     scale_rows,
                                     winograd_weights<2>,
                                     winograd_weights<4>};
  return moves;
}

}  // namespace touchstone
