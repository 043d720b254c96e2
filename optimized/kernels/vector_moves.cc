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

// What is said of rows of `bytes` each, `block` of which along `row` are copied for each of those
// along `next`.
struct Rows {
  const char* from;
  char* to;
  Grid from_steps, to_steps, extents;
  Steps bytes, block;
};

// They have `count` pieces of `width` bytes, the last of which may lie over the one before it.
template <int width, Steps count>
void copy_pieces(const Rows& given) {
  using Piece = VectorOf<std::uint8_t, width>;
  const Rows rows = given;  // what is stored cannot be a part of it
  const Steps bytes = rows.bytes;
  const auto at = [bytes](Steps v) { return v + 1 < count ? v * width : bytes - width; };
  for (Steps first = 0; first < rows.extents.row; first += rows.block) {
    const Steps left = rows.extents.row - first, block = rows.block < left ? rows.block : left;
    for (Steps k = 0; k < rows.extents.next; ++k) {
      const char* from = rows.from + first * rows.from_steps.row + k * rows.from_steps.next;
      char* to = rows.to + first * rows.to_steps.row + k * rows.to_steps.next;
#pragma GCC unroll 4
      for (Steps row = 0; row < block; ++row) {
        typename Piece::Dense held[count];
#pragma GCC unroll 16
        for (Steps v = 0; v < count; ++v)
          held[v] = *reinterpret_cast<const typename Piece::Anywhere*>(from + at(v));
#pragma GCC unroll 16
        for (Steps v = 0; v < count; ++v)
          *reinterpret_cast<typename Piece::Anywhere*>(to + at(v)) = held[v];
        from += rows.from_steps.row, to += rows.to_steps.row;
      }
    }
  }
}

// Rows of up to `is_short` bytes: by vectors, or by two pieces that are smaller.
constexpr Steps line = 64, is_short = 4 * line;
constexpr Steps second_cache = 1 << 20, half_a_third_cache = 7 << 20;  // what is moved, once
template <std::size_t... count>
void copy_by_vectors(const Rows& rows, std::index_sequence<count...>) {
  static constexpr decltype(&copy_pieces<1, 1>) copies[] = {
      copy_pieces<vector_bytes, static_cast<Steps>(count) + 1>...};
  copies[(rows.bytes - 1) / vector_bytes](rows);
}
template <int width = vector_bytes>
void copy_short(const Rows& rows) {
  if (rows.bytes < width) {
    if constexpr (width > 1) copy_short<width / 2>(rows);
  } else if constexpr (width == vector_bytes) {
    copy_by_vectors(rows, std::make_index_sequence<is_short / vector_bytes>());
  } else {
    const auto copy = rows.bytes == width ? copy_pieces<width, 1> : copy_pieces<width, 2>;
    copy(rows);
  }
}

Steps length(Steps step) { return step < 0 ? -step : step; }
void turn(Rows& rows) {
  for (Grid* grid : {&rows.from_steps, &rows.to_steps, &rows.extents})
    *grid = {grid->next, grid->row};
}

// Rows of three words that lie together in `to`, like points and colours: of four rows, which are
// no nearer to each other than their length, three vectors are made.
constexpr Steps three_words = 12;
bool are_triples(const Rows& rows) {
  return rows.bytes == three_words && rows.to_steps.row == three_words &&
         rows.from_steps.row >= three_words && rows.extents.row >= 4;
}
void copy_triples(const Rows& given) {
  using Piece = VectorOf<std::uint8_t, 16>;
  using Words = VectorOf<std::uint32_t, 16>::Dense;
  const Rows rows = given;
  const Steps step = rows.from_steps.row;
  const auto load = [](const char* at) {
    return reinterpret_cast<Words>(*reinterpret_cast<const Piece::Anywhere*>(at));
  };
  const auto store = [](char* at, Words words) {
    *reinterpret_cast<Piece::Anywhere*>(at) = reinterpret_cast<Piece::Dense>(words);
  };
  for (Steps first = 0; first < rows.extents.row; first += rows.block) {
    const Steps left = rows.extents.row - first, block = rows.block < left ? rows.block : left;
    for (Steps k = 0; k < rows.extents.next; ++k) {
      for (Steps row = 0; row < block; row += 4) {
        const Steps four = first + inside(row, 4, block);
        const char* from = rows.from + four * step + k * rows.from_steps.next;
        char* to = rows.to + four * three_words + k * rows.to_steps.next;
        const Words a = load(from), b = load(from + step), c = load(from + 2 * step),
                    d = load(from + 3 * step - 4);  // its words are the last three
        store(to, __builtin_shufflevector(a, b, 0, 1, 2, 4));
        store(to + 16, __builtin_shufflevector(b, c, 1, 2, 4, 5));
        store(to + 32, __builtin_shufflevector(d, c, 6, 1, 2, 3));
      }
    }
  }
}

// A block is a piece of what lies together on one side, in each of the lines that it meets on the
// other: on the side that is read, where lines of the other side may be a page apart, and so in one
// set of the first cache, or where both sides are in the second cache or hardly in the third.
void copy_short_grid(Rows rows) {
  constexpr Steps fewest = 4;
  const Steps all = rows.extents.row * rows.extents.next * rows.bytes;
  const bool reads = rows.bytes == 16 || rows.bytes == 32 || all < second_cache ||
                     (all >= half_a_third_cache && rows.bytes > line);
  if (reads == (length(rows.from_steps.next) < length(rows.from_steps.row))) turn(rows);
  const Steps together = 512, most = reads ? 8 : 16,
              block = together / (fewest * rows.bytes) * fewest + fewest;
  rows.block = block < most ? block : most;
  copy_short(rows);
}

void copy_rows(const char* from, Steps from_row, char* to, Steps to_row, Steps rows, Steps bytes) {
  if (bytes <= is_short)
    return copy_short({from, to, {from_row, 0}, {to_row, 0}, {rows, 1}, bytes, rows});
  for (Steps row = 0; row < rows; ++row, from += from_row, to += to_row) {
    if (bytes >= long_row) {
      __builtin_memcpy(to, from, static_cast<std::size_t>(bytes));
      continue;
    }
    // A call takes longer than such a row does.
    for (Steps at = 0; at < bytes; at += vector_bytes)
      copy_vector(from + inside(at, vector_bytes, bytes), to + inside(at, vector_bytes, bytes));
  }
}

// Which line of some is the k-th to be copied. In their order, processors would fetch what lies
// behind a row's end, and that takes a third of what they can bring to the first cache. From the
// second cache all steps from one to the next of sixty-four differ; past it, where a little ahead
// is worth having, lines near each other stay so.
struct Order {
  Steps group;
  Steps operator()(Steps k) const {
    constexpr Steps near[] = {0, 3, 1, 2};
    const Steps j = k % group;
    return k - j + (group == 4 ? near[j] : j * (4 * j + 3) % group);
  }
};

// Rows along both dimensions: a line of each of some rows, then another, by one loop that is not
// unrolled, since instructions that each went by a step of their own would have it fetched too. The
// last line of a row, and the last rows, may lie over those before them.
constexpr Steps rows_by_lines = vector_bytes > 16 ? 8 : 4;
void copy_lines(const char* from, Grid from_steps, char* to, Grid to_steps, Grid extents,
                Steps bytes) {
  constexpr Steps vectors = line / vector_bytes, most = 128;
  const Steps lines = (bytes + line - 1) / line, all = extents.next * lines;
  const Order order{extents.row * extents.next * bytes < second_cache ? 64 : 4};
  const Steps groups = (all + order.group - 1) / order.group * order.group;
  for (Steps first = 0; first < all; first += most) {
    struct {
      Steps from, to;
    } places[most];
    Steps count = 0;
    for (Steps k = first; k < first + most && k < groups; ++k) {
      const Steps wanted = order(k);
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

void copy_grid(const char* from, Grid from_steps, char* to, Grid to_steps, Grid extents,
               Steps bytes) {
  Rows rows{from, to, from_steps, to_steps, extents, bytes, 16};
  const bool far = extents.row * extents.next * bytes >= half_a_third_cache;
  if (bytes < long_row && (bytes % line == 0 || bytes > is_short) &&
      !(far && bytes > line && bytes <= is_short) &&
      (extents.row >= rows_by_lines || extents.next >= rows_by_lines)) {
    if (extents.row < extents.next) turn(rows);
    return copy_lines(from, rows.from_steps, to, rows.to_steps, rows.extents, bytes);
  }
  if (to_steps.next == bytes) turn(rows);
  if (are_triples(rows)) return copy_triples(rows);
  if (bytes <= is_short) return copy_short_grid(rows);
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
  constexpr Steps together = 256, fewest = 8;  // as many streams are read
  const Steps some = together / bytes > fewest ? together / bytes : fewest;
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
