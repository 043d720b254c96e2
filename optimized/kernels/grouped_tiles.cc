// Tiles of neighboring points in registers. Where the columns of taps are known, each input value
// is picked once for all taps that read it.
//
// Compiled once per instruction set, with TOUCHSTONE_VECTOR_BYTES and TOUCHSTONE_GROUPED_TILES.
// Calls no inline function of the standard library, so that the linker cannot pick code for a newer
// processor for the rest of the program.
#include "optimized/kernels/grouped_tiles.h"

#include <immintrin.h>

namespace touchstone::optimized {

namespace {

using Stride = GroupedTiles::Stride;

constexpr int width = TOUCHSTONE_VECTOR_BYTES / sizeof(float);
constexpr int lanes = TOUCHSTONE_VECTOR_BYTES == 64 ? 16 : 8;  // of a channel block
using Floats __attribute__((vector_size(TOUCHSTONE_VECTOR_BYTES))) = float;
using Anywhere
    __attribute__((vector_size(TOUCHSTONE_VECTOR_BYTES), aligned(alignof(float)), may_alias)) =
        float;

inline Floats load(const float* at) { return *reinterpret_cast<const Anywhere*>(at); }

// Input of one step. `sources`: as in GroupedTiles.
template <int sources>
struct Source;

inline const float* element(const float* a, const float* b, std::int32_t pick) {
  return (pick < lanes ? a : b - lanes) + pick;
}

template <>
struct Source<0> {
  const float* first;
  Source(const float* a, const float*, const std::int32_t* pick) : first(a + pick[0]) {}
  Floats at(Stride offset) const { return first[offset] - Floats{}; }
};

#if defined(__AVX512F__)
template <>
struct Source<1> {
  const float* first;
  __m512i pick;
  Source(const float* a, const float*, const std::int32_t* from)
      : first(a), pick(_mm512_loadu_si512(from)) {}
  Floats at(Stride offset) const {  // with a mask, since g++ 12 warns without
    return _mm512_maskz_permutexvar_ps(0xffff, pick, load(first + offset));
  }
};
template <>
struct Source<3> {
  const float *first, *second;
  __mmask16 is_first;
  Source(const float* a, const float* b, const std::int32_t* from)
      : first(element(a, b, from[0])),
        second(element(a, b, from[width - 1])),
        is_first(_mm512_cmpeq_epi32_mask(_mm512_loadu_si512(from), _mm512_set1_epi32(from[0]))) {}
  Floats at(Stride offset) const {
    return _mm512_mask_broadcastss_ps(second[offset] - Floats{}, is_first,
                                      _mm_load_ss(first + offset));
  }
};
template <>
struct Source<2> {
  const float *first, *second;
  __m512i pick;
  Source(const float* a, const float* b, const std::int32_t* from)
      : first(a), second(b), pick(_mm512_loadu_si512(from)) {}
  Floats at(Stride offset) const {
    return _mm512_permutex2var_ps(load(first + offset), pick, load(second + offset));
  }
};
#elif defined(__AVX2__)
template <>
struct Source<1> {
  const float* first;
  __m256i pick;
  Source(const float* a, const float*, const std::int32_t* from)
      : first(a), pick(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))) {}
  Floats at(Stride offset) const { return _mm256_permutevar8x32_ps(load(first + offset), pick); }
};
template <>
struct Source<3> {
  const float *first, *second;
  __m256 is_first;
  Source(const float* a, const float* b, const std::int32_t* from)
      : first(element(a, b, from[0])),
        second(element(a, b, from[width - 1])),
        is_first(_mm256_castsi256_ps(
            _mm256_cmpeq_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)),
                               _mm256_set1_epi32(from[0])))) {}
  Floats at(Stride offset) const {
    return _mm256_blendv_ps(second[offset] - Floats{}, first[offset] - Floats{}, is_first);
  }
};
template <>
struct Source<2> {
  const float *first, *second;
  __m256i pick;
  __m256 is_second;
  Source(const float* a, const float* b, const std::int32_t* from)
      : first(a),
        second(b),
        pick(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))),
        is_second(_mm256_castsi256_ps(_mm256_slli_epi32(pick, 28))) {}  // 8 becomes the sign
  Floats at(Stride offset) const {
    return _mm256_blendv_ps(_mm256_permutevar8x32_ps(load(first + offset), pick),
                            _mm256_permutevar8x32_ps(load(second + offset), pick), is_second);
  }
};
#else
template <int sources>
struct Source {
  const float* from[width];
  Source(const float* a, const float* b, const std::int32_t* pick) {
    for (int k = 0; k < width; ++k) from[k] = element(a, b, pick[k]);
  }
  Floats at(Stride offset) const {
    Floats made;
    for (int k = 0; k < width; ++k) made[k] = from[k][offset];
    return made;
  }
};
#endif

// `taps`: columns of taps, 0 if known only at run time; else points are `step` input columns apart.
template <int points, int sources, int taps, int step>
inline void tile(const GroupedTiles& g, const float* input, const float* residual, float* output) {
  for (int part = 0; part < lanes; part += width) {
    Floats sum[points];
#pragma GCC unroll 16
    for (int p = 0; p < points; ++p) sum[p] = load(g.bias + part);
    const float* weights = g.weights + part;
    for (Stride i = 0; i < g.tap_rows; ++i) {
      const float* const row = input + i * g.tap_row;
      for (Stride s = 0; s < g.steps; ++s) {
        const Source<sources> source(row + g.blocks[2 * s] * g.block,
                                     row + g.blocks[2 * s + 1] * g.block,
                                     g.picks + s * lanes + part);
        if constexpr (taps > 0) {
          Floats weight[taps];
#pragma GCC unroll 8
          for (int t = 0; t < taps; ++t) weight[t] = load(weights + t * lanes);
#pragma GCC unroll 32
          for (int x = 0; x < (points - 1) * step + taps; ++x) {
            const Floats value = source.at(x * lanes);
#pragma GCC unroll 8
            for (int t = 0; t < taps; ++t) {
              if (x >= t && (x - t) % step == 0 && (x - t) / step < points)
                sum[(x - t) / step] += value * weight[t];
            }
          }
          weights += taps * lanes;
        } else {
          for (Stride t = 0; t < g.tap_columns; ++t, weights += lanes) {
            const Floats weight = load(weights);
#pragma GCC unroll 16
            for (int p = 0; p < points; ++p)
              sum[p] += source.at(t * g.tap_column + p * g.column) * weight;
          }
        }
      }
    }
    const Floats min = g.min - Floats{}, max = g.max - Floats{};
#pragma GCC unroll 16
    for (int p = 0; p < points; ++p) {
      Floats made = sum[p] + load(residual + p * g.residual_column + part);
      made = min > made ? min : made;
      made = max < made ? max : made;
      *reinterpret_cast<Anywhere*>(output + p * g.output_column + part) = made;
    }
  }
}

template <int sources, int taps, int step>
void run(const GroupedTiles& g) {
  for (Stride row = 0; row < g.rows; ++row) {
    const float* input = g.input + row * g.row;
    const float* residual = g.residual + row * g.residual_row;
    float* output = g.output + row * g.output_row;
    for (Stride k = 0; k < g.tile_count; ++k) {
      const std::int32_t points = g.tiles[k];
      switch (points) {
#if TOUCHSTONE_VECTOR_BYTES == 64
        case 14:
          tile<14, sources, taps, step>(g, input, residual, output);
          break;
#endif
        case 8:
          tile<8, sources, taps, step>(g, input, residual, output);
          break;
        case 7:
          tile<7, sources, taps, step>(g, input, residual, output);
          break;
        case 4:
          tile<4, sources, taps, step>(g, input, residual, output);
          break;
        case 2:
          tile<2, sources, taps, step>(g, input, residual, output);
          break;
        default:
          tile<1, sources, taps, step>(g, input, residual, output);
      }
      input += points * g.column;
      residual += points * g.residual_column;
      output += points * g.output_column;
    }
  }
}

template <int sources>
void choose(const GroupedTiles& g) {
  if (g.tap_columns == 3 && g.tap_column == lanes && g.column == lanes) {
    run<sources, 3, 1>(g);
  } else if (g.tap_columns == 3 && g.tap_column == lanes && g.column == 2 * lanes) {
    run<sources, 3, 2>(g);
  } else if (g.tap_columns == 1 && g.column == lanes) {
    run<sources, 1, 1>(g);
  } else {
    run<sources, 0, 0>(g);
  }
}

}  // namespace

void TOUCHSTONE_GROUPED_TILES(const GroupedTiles& g) {
  if (g.sources == 0) {
    choose<0>(g);
  } else if (g.sources == 1) {
    choose<1>(g);
  } else if (g.sources == 3) {
    choose<3>(g);
  } else {
    choose<2>(g);
  }
}

}  // namespace touchstone::optimized
