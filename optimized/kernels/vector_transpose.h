// Transposes, included only by vector_copies.cc, once per instruction set.
//
// A square of elements is transposed in registers: in step s, rows whose indices differ in bit s
// exchange the halves of their elements that differ in it. The side of the square is a vector's
// lanes. Edges are covered by an overlapping square inside, and a strip narrower than a square by
// smaller squares. Data that fits into L1 is transposed by pieces of sixteen bytes. There a vector
// load gathers one piece of every second or fourth row, so that only shuffles within a piece
// remain.
#pragma once

#include <immintrin.h>

#include <utility>

#include "optimized/kernels/vector_copies.h"

namespace touchstone::optimized {

namespace {

constexpr int vector_bytes = TOUCHSTONE_VECTOR_BYTES;

template <class T, int bytes = vector_bytes>
struct VectorOf {
  using Dense __attribute__((vector_size(bytes))) = T;
  using Anywhere __attribute__((vector_size(bytes), aligned(alignof(T)), may_alias)) = T;
  static constexpr int lanes = bytes / sizeof(T);
};

// Loads pieces of sixteen bytes, `row` bytes apart, and interleaves the lower or upper halves of
// the pieces of two vectors. Written with intrinsics, since a compiler would use shuffles for what
// a load can do.
template <int bytes>
struct Pieces;
#define TOUCHSTONE_PIECES(bytes, Vector, prefix)                                                   \
  template <>                                                                                      \
  struct Pieces<bytes> {                                                                           \
    static Vector loaded(const char* from, Stride row);                                            \
    static void store(char* to, Vector v) { prefix##_storeu_ps(reinterpret_cast<float*>(to), v); } \
    static Vector low_pairs(Vector a, Vector b) {                                                  \
      return prefix##_castpd_ps(                                                                   \
          prefix##_unpacklo_pd(prefix##_castps_pd(a), prefix##_castps_pd(b)));                     \
    }                                                                                              \
    static Vector high_pairs(Vector a, Vector b) {                                                 \
      return prefix##_castpd_ps(                                                                   \
          prefix##_unpackhi_pd(prefix##_castps_pd(a), prefix##_castps_pd(b)));                     \
    }                                                                                              \
    static Vector low(Vector a, Vector b) { return prefix##_unpacklo_ps(a, b); }                   \
    static Vector high(Vector a, Vector b) { return prefix##_unpackhi_ps(a, b); }                  \
  };

inline __m128 piece_at(const char* from) {
  return _mm_loadu_ps(reinterpret_cast<const float*>(from));
}
TOUCHSTONE_PIECES(16, __m128, _mm)
inline __m128 Pieces<16>::loaded(const char* from, Stride) { return piece_at(from); }
#ifdef __AVX__
TOUCHSTONE_PIECES(32, __m256, _mm256)
inline __m256 Pieces<32>::loaded(const char* from, Stride row) {
  return _mm256_insertf128_ps(_mm256_castps128_ps256(piece_at(from)), piece_at(from + row), 1);
}
#endif
#ifdef __AVX512F__
TOUCHSTONE_PIECES(64, __m512, _mm512)
inline __m512 Pieces<64>::loaded(const char* from, Stride row) {
  __m512 all = _mm512_castps128_ps512(piece_at(from));
  all = _mm512_mask_broadcast_f32x4(all, 0x00f0, piece_at(from + row));
  all = _mm512_mask_broadcast_f32x4(all, 0x0f00, piece_at(from + 2 * row));
  return _mm512_mask_broadcast_f32x4(all, 0xf000, piece_at(from + 3 * row));
}
#endif
#undef TOUCHSTONE_PIECES

// Transposes as many columns as a piece has elements, of as many rows as a vector has lanes.
template <class V, class T>
inline void few_columns(const T* from, Stride from_row, T* to, Stride to_row) {
  using P = Pieces<V::lanes * sizeof(T)>;
  constexpr int piece = 16 / sizeof(T);
  const auto row = [&](int i) {
    return P::loaded(reinterpret_cast<const char*>(from + i * from_row),
                     piece * from_row * sizeof(T));
  };
  const auto store = [&](int i, auto v) { P::store(reinterpret_cast<char*>(to + i * to_row), v); };
  const auto a = row(0), b = row(1);
  if constexpr (piece == 2) {
    store(0, P::low_pairs(a, b)), store(1, P::high_pairs(a, b));
  } else {
    const auto c = row(2), d = row(3);
    const auto low = P::low(a, b), high = P::high(a, b), next = P::low(c, d), last = P::high(c, d);
    store(0, P::low_pairs(low, next)), store(1, P::high_pairs(low, next));
    store(2, P::low_pairs(high, last)), store(3, P::high_pairs(high, last));
  }
}

// Exchanges elements of two rows whose indices differ in bit `bit`. Element k of the lower row is
// its own if k lacks the bit, else the upper row's element k ^ bit; the upper row is the mirror
// image.
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
inline void square(const T* from, Stride from_row, T* to, Stride to_row) {
  typename V::Dense rows[V::lanes];
#pragma GCC unroll 16
  for (int i = 0; i < V::lanes; ++i)
    rows[i] = *reinterpret_cast<const typename V::Anywhere*>(from + i * from_row);
  turn<V>(rows);
#pragma GCC unroll 16
  for (int i = 0; i < V::lanes; ++i)
    *reinterpret_cast<typename V::Anywhere*>(to + i * to_row) = rows[i];
}

// Start of a piece of `size` that must end inside: the last piece overlaps the one before it.
inline Stride inside(Stride at, Stride size, Stride all) {
  return at + size <= all ? at : all - size;
}

// Splits three interleaved columns, such as colors: each vector of a column is picked out of three.
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
void part_three(const T* from, T* to, Stride to_row, Stride rows) {
  using V = VectorOf<T>;
  constexpr auto all = std::make_index_sequence<V::lanes>();
  const auto load = [](const T* at) ->
      typename V::Dense { return *reinterpret_cast<const typename V::Anywhere*>(at); };
  const auto store = [](T* at, const typename V::Dense& v) {
    *reinterpret_cast<typename V::Anywhere*>(at) = v;
  };
  for (Stride k = 0; k < rows; k += V::lanes) {
    const Stride i = inside(k, V::lanes, rows);
    const T* at = from + 3 * i;
    const typename V::Dense a = load(at), b = load(at + V::lanes), c = load(at + 2 * V::lanes);
    store(to + i, picked<V, 0>(a, b, c, all));
    store(to + to_row + i, picked<V, 1>(a, b, c, all));
    store(to + 2 * to_row + i, picked<V, 2>(a, b, c, all));
  }
}

// Matrices beyond L2 are processed in bands of rows: each row is in another page, and the TLB holds
// few. The hardware prefetcher follows none of that many streams, so the next reads are prefetched
// explicitly.
template <class V, class T>
void by_squares(const T* from, Stride from_row, T* to, Stride to_row, Stride rows, Stride columns) {
  constexpr Stride lanes = V::lanes, large = 1 << 20;
  const bool asking = rows * columns * static_cast<Stride>(sizeof(T)) >= large;
  const Stride some = asking ? 16 * lanes : rows;
  for (Stride first = 0; first < rows; first += some) {
    const Stride last = first + some < rows ? first + some : rows;
    for (Stride j = 0; j < columns; j += lanes) {
      const Stride column = inside(j, lanes, columns);
      for (Stride i = first; i < last; i += lanes) {
        for (Stride k = 0; asking && j + lanes < columns && k < lanes; ++k)
          __builtin_prefetch(from + (i + k) * from_row + j + lanes);
        const Stride row = inside(i, lanes, rows);
        square<V>(from + row * from_row + column, from_row, to + column * to_row + row, to_row);
      }
    }
  }
}

template <class V, class T>
inline void copy_vectors(const T* from, T* to, Stride count) {
  for (Stride at = 0; at < count; at += V::lanes)
    *reinterpret_cast<typename V::Anywhere*>(to + at) =
        *reinterpret_cast<const typename V::Anywhere*>(from + at);
}

// If the row stride is a multiple of half a page, a column's lines map to few sets of L1. Half of a
// line would be evicted before its other half is read. Therefore a tile of four lines per row is
// read whole, within the prefetcher's reach. It is then transposed into a strip that is written in
// whole lines.
template <class T>
struct Tile {
  using V = VectorOf<T>;
  static constexpr Stride line = 64 / sizeof(T), side = 4 * line, pitch = side + line;

  static bool fits(Stride from_row, Stride to_row, Stride rows, Stride columns) {
    constexpr Stride apart = 2048 / sizeof(T), min = (1 << 16) / sizeof(T),
                     max = (8 << 20) / sizeof(T);
    return (from_row % apart == 0 || to_row % apart == 0) && rows >= side && columns >= side &&
           rows * columns >= min && rows * columns <= max;
  }

  static void turn(const T* from, Stride from_row, T* to, Stride to_row) {
    constexpr Stride piece = 16 / sizeof(T);
    alignas(64) T tile[side * pitch], strip[piece * side];
    for (Stride i = 0; i < side; ++i) copy_vectors<V>(from + i * from_row, tile + i * pitch, side);
    for (Stride j = 0; j < side; j += piece) {
      for (Stride i = 0; i < side; i += V::lanes)
        few_columns<V>(tile + i * pitch + j, pitch, strip + i, side);
#pragma GCC unroll 1  // unrolled, rows of one set are stored in a worse order
      for (Stride k = 0; k < piece; ++k)
        copy_vectors<V>(strip + k * side, to + (j + k) * to_row, side);
    }
  }
};

template <class T>
void by_tiles(const T* from, Stride from_row, T* to, Stride to_row, Stride rows, Stride columns) {
  constexpr Stride side = Tile<T>::side;
  for (Stride j = 0; j < columns; j += side) {
    const Stride column = inside(j, side, columns);
    for (Stride i = 0; i < rows; i += side) {
      const Stride row = inside(i, side, rows);
      Tile<T>::turn(from + row * from_row + column, from_row, to + column * to_row + row, to_row);
    }
  }
}

template <class T, int bytes = vector_bytes>
void transpose(const T* from, Stride from_row, T* to, Stride to_row, Stride rows, Stride columns) {
  using V = VectorOf<T, bytes>;
  constexpr Stride lanes = V::lanes;
  if constexpr (bytes == vector_bytes) {
    if (columns == 3 && from_row == 3 && rows >= lanes) return part_three(from, to, to_row, rows);
    if (Tile<T>::fits(from_row, to_row, rows, columns))
      return by_tiles(from, from_row, to, to_row, rows, columns);
  }
  if (rows >= lanes && columns >= lanes)
    return by_squares<V>(from, from_row, to, to_row, rows, columns);
  if constexpr (lanes > 4) {
    transpose<T, bytes / 2>(from, from_row, to, to_row, rows, columns);
  } else {
    for (Stride j = 0; j < columns; ++j) {
      for (Stride i = 0; i < rows; ++i) to[j * to_row + i] = from[i * from_row + j];
    }
  }
}

}  // namespace

}  // namespace touchstone::optimized
