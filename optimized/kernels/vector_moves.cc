// A square of elements is transposed in registers: in step s, rows whose numbers differ in bit s
// exchange those halves of their elements that differ in it. The sides of the square are a
// vector's lanes; what is left over at the edges is covered by a square that lies inside, over
// elements that are moved already, and a strip narrower than a square takes smaller ones.
//
// Compiled once for each instruction set, with TOUCHSTONE_VECTOR_BYTES and TOUCHSTONE_VECTOR_MOVES.
// So that no code for a newer processor gets into the rest, nothing of the standard library's that
// is inline is called here.
#include "optimized/kernels/vector_moves.h"

#include <utility>

namespace touchstone {

namespace {

constexpr int vector_bytes = TOUCHSTONE_VECTOR_BYTES;

template <class T, int bytes = vector_bytes>
struct VectorOf {
  using Dense __attribute__((vector_size(bytes))) = T;
  using Anywhere __attribute__((vector_size(bytes), aligned(alignof(T)), may_alias)) = T;
  static constexpr int lanes = bytes / sizeof(T);
};

// Element k of the lower of two rows that differ in bit `bit`: its own where k has not the bit,
// else the upper's, from where k has it not. The upper's the other way round.
template <int bit, int lanes, class V, std::size_t... k>
inline void exchange(V& lower, V& upper, std::index_sequence<k...>) {
  const V a = lower, b = upper;
  lower = __builtin_shufflevector(a, b, ((k & bit) ? lanes + (k ^ bit) : k)...);
  upper = __builtin_shufflevector(a, b, ((k & bit) ? lanes + k : (k ^ bit))...);
}

template <class V, int bit = 1>
inline void turn(typename V::Dense* rows) {
  if constexpr (bit < V::lanes) {
#pragma GCC unroll 16
    for (int row = 0; row < V::lanes; ++row) {
      if (!(row & bit))
        exchange<bit, V::lanes>(rows[row], rows[row | bit], std::make_index_sequence<V::lanes>());
    }
    turn<V, bit * 2>(rows);
  }
}

template <class V, class T>
inline void square(const T* from, Steps from_row, T* to, Steps to_row) {
  typename V::Dense rows[V::lanes];
#pragma GCC unroll 16
  for (int i = 0; i < V::lanes; ++i)
    rows[i] = *reinterpret_cast<const typename V::Anywhere*>(from + i * from_row);
  turn<V>(rows);
#pragma GCC unroll 16
  for (int i = 0; i < V::lanes; ++i)
    *reinterpret_cast<typename V::Anywhere*>(to + i * to_row) = rows[i];
}

// Three dense columns, as of colours: each vector of a column is picked out of three.
template <class V, int column, std::size_t... i>
inline typename V::Dense picked(typename V::Dense a, typename V::Dense b, typename V::Dense c,
                                std::index_sequence<i...>) {
  constexpr int lanes = V::lanes;
  const typename V::Dense two =
      __builtin_shufflevector(a, b, (3 * int(i) + column < 2 * lanes ? 3 * int(i) + column : 0)...);
  return __builtin_shufflevector(
      two, c,
      (3 * int(i) + column < 2 * lanes ? int(i) : 3 * int(i) + column - 2 * lanes + lanes)...);
}

template <class T>
void part_three(const T* from, T* to, Steps to_row, Steps rows) {
  using V = VectorOf<T>;
  constexpr auto all = std::make_index_sequence<V::lanes>();
  const auto load = [](const T* at) ->
      typename V::Dense { return *reinterpret_cast<const typename V::Anywhere*>(at); };
  const auto store = [](T* at, const typename V::Dense& v) {
    *reinterpret_cast<typename V::Anywhere*>(at) = v;
  };
  for (Steps k = 0; k < rows; k += V::lanes) {
    const Steps i = k + V::lanes <= rows ? k : rows - V::lanes;
    const T* at = from + 3 * i;
    const typename V::Dense a = load(at), b = load(at + V::lanes), c = load(at + 2 * V::lanes);
    store(to + i, picked<V, 0>(a, b, c, all));
    store(to + to_row + i, picked<V, 1>(a, b, c, all));
    store(to + 2 * to_row + i, picked<V, 2>(a, b, c, all));
  }
}

template <class T, int bytes = vector_bytes>
void transpose(const T* from, Steps from_row, T* to, Steps to_row, Steps rows, Steps columns) {
  using V = VectorOf<T, bytes>;
  constexpr Steps lanes = V::lanes;
  if constexpr (bytes == vector_bytes) {
    if (columns == 3 && from_row == 3 && rows >= lanes) return part_three(from, to, to_row, rows);
  }
  if (rows < lanes || columns < lanes) {
    if constexpr (lanes > 4) {
      return transpose<T, bytes / 2>(from, from_row, to, to_row, rows, columns);
    } else {
      for (Steps j = 0; j < columns; ++j) {
        for (Steps i = 0; i < rows; ++i) to[j * to_row + i] = from[i * from_row + j];
      }
      return;
    }
  }
  const auto at = [&](Steps i, Steps j) {
    const Steps row = i + lanes <= rows ? i : rows - lanes;
    const Steps column = j + lanes <= columns ? j : columns - lanes;
    square<V>(from + row * from_row + column, from_row, to + column * to_row + row, to_row);
  };
  constexpr Steps large = 1 << 20, some = 16 * lanes;
  if (rows * columns * static_cast<Steps>(sizeof(T)) < large) {
    for (Steps j = 0; j < columns; j += lanes) {
      for (Steps i = 0; i < rows; i += lanes) at(i, j);
    }
    return;
  }
  // What does not stay in the second cache goes by some rows at a time: each lies in a page of its
  // own, and processors keep the places of few; and the rows that are written next are asked for.
  for (Steps first = 0; first < rows; first += some) {
    const Steps last = first + some < rows ? first + some : rows;
    for (Steps j = 0; j < columns; j += lanes) {
      for (Steps i = first; i < last; i += lanes) {
        for (Steps k = 0; j + 2 * lanes <= columns && k < lanes; ++k)
          __builtin_prefetch(to + (j + lanes + k) * to_row + i, 1);
        at(i, j);
      }
    }
  }
}

using Bytes = VectorOf<std::uint8_t>;

inline void copy_vector(const char* from, char* to) {
  *reinterpret_cast<Bytes::Anywhere*>(to) = *reinterpret_cast<const Bytes::Anywhere*>(from);
}

// Short rows: a call of memcpy takes longer than they do.
inline void copy_short(const char* from, char* to, Steps bytes) {
  Steps at = 0;
  if (bytes >= vector_bytes) {
    for (; at + vector_bytes <= bytes; at += vector_bytes) copy_vector(from + at, to + at);
    if (at < bytes) copy_vector(from + bytes - vector_bytes, to + bytes - vector_bytes);
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

void repeat(const float* from, Steps from_column, float* to, Steps to_column, Steps count,
            Steps times) {
  using V = VectorOf<float>;
  constexpr Steps lanes = vector_bytes == 64 ? 16 : 8;
  for (Steps k = 0; k < count; ++k, from += from_column) {
    for (Steps t = 0; t < times; ++t, to += to_column) {
      for (Steps at = 0; at < lanes; at += V::lanes)
        *reinterpret_cast<V::Anywhere*>(to + at) = *reinterpret_cast<const V::Anywhere*>(from + at);
    }
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
      transpose<std::uint32_t>, transpose<std::uint64_t>, copy_rows, repeat, scale_rows,
      winograd_weights<2>,      winograd_weights<4>};
  return moves;
}

}  // namespace touchstone
