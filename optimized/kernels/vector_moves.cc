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
  constexpr Steps is_long = 2048;
  for (Steps row = 0; row < rows; ++row, from += from_row, to += to_row) {
    if (bytes < is_long) {
      copy_short(from, to, bytes);
    } else {
      __builtin_memcpy(to, from, static_cast<std::size_t>(bytes));
    }
  }
}

// Short rows that follow each other here along `next` and there along `row` go by tiles: of what is
// loaded around a row the next is not loaded again, and what is written stands together. A tile has
// as many lines each way as a set of the first cache has places, since all its rows often lie in
// one. Those of the tile after it, which lie in other pages, are asked for. Long rows have nothing
// to gain from it.
void copy_grid(const char* from, Grid from_steps, char* to, Grid to_steps, Grid extents,
               Steps bytes) {
  constexpr Steps near = 768, is_short = 384, line = 64, large = 1 << 20;
  const Steps next = from_steps.next < 0 ? -from_steps.next : from_steps.next;
  const Steps row_step = from_steps.row < 0 ? -from_steps.row : from_steps.row;
  const bool stays = next > 128 && extents.row * extents.next * bytes < large;
  if (next == 0 || next > is_short || stays || row_step <= next) {
    for (Steps k = 0; k < extents.next; ++k, from += from_steps.next, to += to_steps.next)
      copy_rows(from, from_steps.row, to, to_steps.row, extents.row, bytes);
    return;
  }
  const Steps some = near / next;
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

// Rows that lie together in `to`, past the caches: in pieces of sixteen bytes, one of which may be
// the end of a row and the beginning of the next. Bytes and places are multiples of four, and a row
// is no shorter than a piece. What lies `ahead` in each row that is read is asked for.
void stream_rows(const char* from, Steps from_row, char* to, Steps rows, Steps bytes) {
  constexpr Steps piece = 16, line = 64, ahead = 1024;
  const auto load = [](const char* at) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  };
  const auto stream = [](char* at, __m128i v) { _mm_stream_si128(reinterpret_cast<__m128i*>(at), v); };
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
  static constexpr VectorMoves moves{
      transpose<std::uint32_t>, transpose<std::uint64_t>, copy_rows, copy_grid, stream_grid, repeat, scale_rows,
      winograd_weights<2>,      winograd_weights<4>};
  return moves;
}

}  // namespace touchstone
