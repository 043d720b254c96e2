// Softmax and normalization of rows: passes over one row that stays in the cache.
//
// Compiled once per instruction set, with TOUCHSTONE_VECTOR_BYTES and TOUCHSTONE_ROW_NORMS. Calls
// no inline function of the standard library, so that the linker cannot pick code for a newer
// processor for the rest of the program.
#include "optimized/kernels/row_norms.h"

#include <immintrin.h>

#include "optimized/kernels/vector_exp.h"

namespace touchstone {
namespace {

using Quad __attribute__((vector_size(16))) = float;
constexpr std::int64_t one_vector = lanes_at_once, four_vectors = 4 * one_vector;
constexpr std::int64_t piece = 64 * four_vectors;  // numbers that are summed in float32

inline Bits before(std::int64_t count) {
  Bits place;
  for (int k = 0; k < lanes_at_once; ++k) place[k] = k;
  return place < static_cast<std::int32_t>(count);
}

// Reads and writes fewer numbers than a vector has; the other lanes read are `rest`.
#if defined(__AVX512F__)
inline Floats load_some(const float* at, std::int64_t count, float rest) {
  return _mm512_mask_loadu_ps(all(rest), static_cast<__mmask16>((1U << count) - 1), at);
}
inline void store_some(float* at, std::int64_t count, Floats x) {
  _mm512_mask_storeu_ps(at, static_cast<__mmask16>((1U << count) - 1), x);
}
#elif defined(__AVX2__)
inline Floats load_some(const float* at, std::int64_t count, float rest) {
  const Bits mask = before(count);
  return choose(mask, _mm256_maskload_ps(at, reinterpret_cast<__m256i>(mask)), all(rest));
}
inline void store_some(float* at, std::int64_t count, Floats x) {
  _mm256_maskstore_ps(at, reinterpret_cast<__m256i>(before(count)), x);
}
#else
inline Floats load_some(const float* at, std::int64_t count, float rest) {
  Floats x = all(rest);
  x[0] = at[0];
  if (count > 1) x[1] = at[1];
  if (count > 2) x[2] = at[2];
  return x;
}
inline void store_some(float* at, std::int64_t count, Floats x) {
  at[0] = x[0];
  if (count > 1) at[1] = x[1];
  if (count > 2) at[2] = x[2];
}
#endif
inline Floats load_vector(const float* at) { return *reinterpret_cast<const Anywhere*>(at); }
inline void store_vector(float* at, Floats x) { *reinterpret_cast<Anywhere*>(at) = x; }

// Combines all lanes of a vector: first its quarters of 16 bytes, then their lanes.
template <class Combine>
inline float fold(Floats x, Combine combine) {
  constexpr int quads = lanes_at_once / 4;
  Quad held[quads];
  __builtin_memcpy(held, &x, sizeof held);
#pragma GCC unroll 2
  for (int width = quads / 2; width > 0; width /= 2) {
    for (int k = 0; k < width; ++k) held[k] = combine(held[k], held[k + width]);
  }
  Quad some = held[0];
  some = combine(some, __builtin_shufflevector(some, some, 2, 3, 0, 1));
  some = combine(some, __builtin_shufflevector(some, some, 1, 0, 3, 2));
  return some[0];
}

// Calls term(k, v) for each vector of a row: v holds its numbers from k on. At the end of the row,
// v holds fewer numbers and zeros. Returns the sum of the results.
template <class Term>
inline double sum_of(const float* x, std::int64_t count, Term term) {
  double all = 0;
  std::int64_t k = 0;
  do {
    Floats sums[4] = {};
    const std::int64_t end = count - k < piece ? count : k + piece;
    for (; k + four_vectors <= end; k += four_vectors) {
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v)
        sums[v] += term(k + v * one_vector, load_vector(x + k + v * one_vector));
    }
    for (; k + one_vector <= end; k += one_vector) sums[0] += term(k, load_vector(x + k));
    if (k < end) {
      sums[1] += of_bits(bits(term(k, load_some(x + k, end - k, 0))) & before(end - k));
      k = end;
    }
    all += static_cast<double>(
        fold((sums[0] + sums[1]) + (sums[2] + sums[3]), [](Quad a, Quad b) { return a + b; }));
  } while (k < count);
  return all;
}

// Writes result(k, v) for each vector of a row, as sum_of() reads it.
template <class Result>
inline void map(const float* x, float* y, std::int64_t count, Result result) {
  std::int64_t k = 0;
#pragma GCC unroll 4
  for (; k + one_vector <= count; k += one_vector)
    store_vector(y + k, result(k, load_vector(x + k)));
  if (k < count) store_some(y + k, count - k, result(k, load_some(x + k, count - k, 0)));
}

// The largest number of a row; NaN if the row holds one.
inline float largest(const float* x, std::int64_t count) {
  const Floats lowest = all(-__builtin_inff());
  Floats most[4] = {lowest, lowest, lowest, lowest};
  Bits nan = {};
  const auto look = [&](int v, Floats some) {
    nan |= some != some;
    most[v] = some > most[v] ? some : most[v];
  };
  std::int64_t k = 0;
  for (; k + four_vectors <= count; k += four_vectors) {
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) look(v, load_vector(x + k + v * one_vector));
  }
  for (; k + one_vector <= count; k += one_vector) look(0, load_vector(x + k));
  if (k < count) look(1, load_some(x + k, count - k, -__builtin_inff()));
  most[0] = most[0] > most[1] ? most[0] : most[1];
  most[2] = most[2] > most[3] ? most[2] : most[3];
  most[0] = most[0] > most[2] ? most[0] : most[2];
  // All ones are a NaN, and the larger of NaN and a number is NaN.
  return fold(of_bits(bits(most[0]) | nan),
              [](Quad a, Quad b) { return ((a > b) | (a != a)) ? a : b; });
}

// A row that holds NaN, or whose largest number is infinite, has NaN everywhere: an infinity minus
// itself is NaN.
inline bool is_finite(float x) { return x - x == 0; }
inline void fill_with_nan(float* y, std::int64_t count) {
  for (std::int64_t k = 0; k < count; ++k) y[k] = __builtin_nanf("");
}

void softmax(const float* x, float* y, std::int64_t rows, std::int64_t count) {
  for (std::int64_t r = 0; r < rows; ++r, x += count, y += count) {
    const float most = largest(x, count);
    if (!is_finite(most)) {
      fill_with_nan(y, count);
      continue;
    }
    const auto sum = static_cast<float>(sum_of(x, count, [&](std::int64_t k, Floats some) {
      const Floats made = exp_of_negative(some - most);
      if (k + one_vector <= count) {
        store_vector(y + k, made);
      } else {
        store_some(y + k, count - k, made);
      }
      return made;
    }));
    map(y, y, count, [&](std::int64_t, Floats some) { return some / sum; });
  }
}

void log_softmax(const float* x, float* y, std::int64_t rows, std::int64_t count) {
  for (std::int64_t r = 0; r < rows; ++r, x += count, y += count) {
    const float most = largest(x, count);
    if (!is_finite(most)) {
      fill_with_nan(y, count);
      continue;
    }
    const double sum =
        sum_of(x, count, [&](std::int64_t, Floats some) { return exp_of_negative(some - most); });
    const auto shift = static_cast<float>(__builtin_log(sum));
    map(x, y, count, [&](std::int64_t, Floats some) { return (some - most) - shift; });
  }
}

// Numbers of scale or bias for a vector of a row, and zeros.
inline Floats load_of(const float* at, std::int64_t k, std::int64_t count) {
  return k + one_vector <= count ? load_vector(at + k) : load_some(at + k, count - k, 0);
}

// An infinity is the largest number of its row, and its logarithm.
void log_sum_exp(const float* x, float* y, std::int64_t rows, std::int64_t count) {
  for (std::int64_t r = 0; r < rows; ++r, x += count) {
    const float most = largest(x, count);
    y[r] = most;
    if (!is_finite(most)) continue;
    const double sum =
        sum_of(x, count, [&](std::int64_t, Floats some) { return exp_of_negative(some - most); });
    y[r] = static_cast<float>(static_cast<double>(most) + __builtin_log(sum));
  }
}

// Softmax or its logarithm of up to `vectors` vectors of columns side by side; `last` columns are
// of the last vector.
template <int vectors, bool logarithm>
inline void some_columns(const float* x, float* y, std::int64_t count, std::int64_t stride,
                         std::int64_t last) {
  const auto read = [&](const float* row, int v) {
    return v + 1 < vectors ? load_vector(row + v * one_vector)
                           : load_of(row, v * one_vector, v * one_vector + last);
  };
  const auto write = [&](float* row, int v, Floats made) {
    if (v + 1 < vectors || last == one_vector) {
      store_vector(row + v * one_vector, made);
    } else {
      store_some(row + v * one_vector, last, made);
    }
  };
  Floats most[vectors], sums[vectors];
  Bits nan[vectors];
  for (int v = 0; v < vectors; ++v) most[v] = read(x, v), sums[v] = Floats{}, nan[v] = Bits{};
  for (std::int64_t k = 0; k < count; ++k) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      const Floats some = read(x + k * stride, v);
      nan[v] |= some != some;
      most[v] = some > most[v] ? some : most[v];
    }
  }
  // All ones are a NaN; so is an infinity minus itself, in whose column all is NaN.
  for (int v = 0; v < vectors; ++v) {
    most[v] = of_bits(bits(most[v]) | nan[v]);
    nan[v] = (most[v] - most[v]) != Floats{};
  }
  for (std::int64_t k = 0; k < count; ++k) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      const Floats made = exp_of_negative(read(x + k * stride, v) - most[v]);
      if (!logarithm) write(y + k * stride, v, made);
      sums[v] += made;
    }
  }
  if (logarithm) {
    for (int v = 0; v < vectors; ++v) {
      for (int k = 0; k < lanes_at_once; ++k) sums[v][k] = __builtin_logf(sums[v][k]);
    }
  }
  for (int v = 0; v < vectors; ++v) sums[v] = of_bits(bits(sums[v]) | nan[v]);
  for (std::int64_t k = 0; k < count; ++k) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      float* const to = y + k * stride;
      write(to, v,
            logarithm ? (read(x + k * stride, v) - most[v]) - sums[v] : read(to, v) / sums[v]);
    }
  }
}

template <bool logarithm>
void all_columns(const NormalizedColumns& of) {
  const NormalizedColumns all = of;
  for (std::int64_t c = 0; c < all.columns;) {
    const float* const x = all.x + c;
    float* const y = all.y + c;
    const std::int64_t left = all.columns - c;
    if (left >= four_vectors) {
      some_columns<4, logarithm>(x, y, all.count, all.stride, one_vector);
      c += four_vectors;
    } else {
      const std::int64_t last = left < one_vector ? left : one_vector;
      some_columns<1, logarithm>(x, y, all.count, all.stride, last);
      c += last;
    }
  }
}

struct Statistics {
  float mean, deviation;
};
inline Statistics statistics(const float* x, std::int64_t count, float epsilon) {
  const auto size = static_cast<double>(count);
  const auto mean =
      static_cast<float>(sum_of(x, count, [](std::int64_t, Floats some) { return some; }) / size);
  const double squares = sum_of(x, count, [&](std::int64_t, Floats some) {
    const Floats rest = some - mean;
    return rest * rest;
  });
  const auto variance = static_cast<float>(squares / size);
  return {mean, static_cast<float>(
                    __builtin_sqrt(static_cast<double>(variance) + static_cast<double>(epsilon)))};
}

void layer(const NormalizedRows& of) {
  const NormalizedRows all = of;
  const float* x = all.x;
  float* y = all.y;
  for (std::int64_t r = 0; r < all.rows; ++r, x += all.count, y += all.count) {
    const Statistics found = statistics(x, all.count, all.epsilon);
    const float mean = found.mean, inverse = 1.0F / found.deviation;
    if (all.bias == nullptr) {
      map(x, y, all.count, [&](std::int64_t k, Floats some) {
        return (some - mean) * inverse * load_of(all.scale, k, all.count);
      });
    } else {
      map(x, y, all.count, [&](std::int64_t k, Floats some) {
        return (some - mean) * inverse * load_of(all.scale, k, all.count) +
               load_of(all.bias, k, all.count);
      });
    }
    if (all.mean != nullptr) all.mean[r] = mean;
    if (all.inverse != nullptr) all.inverse[r] = inverse;
  }
}

// Multiplies by one factor, unless that loses what a quotient and a product keep: it is zero,
// subnormal, infinite or NaN.
inline void scale_by_one(const float* x, float* y, std::int64_t count, Statistics of, float scale,
                         float bias) {
  constexpr float least = 1e-30F, most = 1e30F;
  const auto factor = static_cast<float>(static_cast<double>(scale) / of.deviation);
  const float size = __builtin_fabsf(factor);
  if (size > least && size < most) {
    map(x, y, count, [&](std::int64_t, Floats some) { return (some - of.mean) * factor + bias; });
  } else {
    map(x, y, count,
        [&](std::int64_t, Floats some) { return (some - of.mean) / of.deviation * scale + bias; });
  }
}

void group(const NormalizedGroup& of) {
  const NormalizedGroup all = of;
  const Statistics found = statistics(all.x, all.count, all.epsilon);
  std::int64_t channel = 0;
  for (std::int64_t k = 0; k < all.count; k += all.segment, ++channel)
    scale_by_one(all.x + k, all.y + k, all.segment, found, all.scale[channel], all.bias[channel]);
}

void by_one(const GivenStatistics& all) {
  scale_by_one(all.x, all.y, all.count, {*all.mean, *all.deviation}, *all.scale, *all.bias);
}

void by_each(const GivenStatistics& of) {
  const GivenStatistics all = of;
  map(all.x, all.y, all.count, [&](std::int64_t k, Floats some) {
    return (some - load_of(all.mean, k, all.count)) / load_of(all.deviation, k, all.count) *
               load_of(all.scale, k, all.count) +
           load_of(all.bias, k, all.count);
  });
}

void standard(const float* x, float* y, std::int64_t rows, std::int64_t count, float least) {
  for (std::int64_t r = 0; r < rows; ++r, x += count, y += count) {
    Statistics found = statistics(x, count, 0);
    found.deviation += least;
    scale_by_one(x, y, count, found, 1, 0);
  }
}

template <bool squares>
void by_size(const float* x, float* y, std::int64_t rows, std::int64_t count) {
  for (std::int64_t r = 0; r < rows; ++r, x += count, y += count) {
    auto size = static_cast<float>(sum_of(
        x, count, [](std::int64_t, Floats some) { return squares ? some * some : size_of(some); }));
    if (squares) size = __builtin_sqrtf(size);
    if (size == 0) {
      for (std::int64_t k = 0; k < count; ++k) y[k] = 0;
    } else {
      map(x, y, count, [&](std::int64_t, Floats some) { return some / size; });
    }
  }
}

void root_mean_square(const NormalizedRows& of) {
  const NormalizedRows all = of;
  const float* x = all.x;
  float* y = all.y;
  const auto size = static_cast<double>(all.count);
  for (std::int64_t r = 0; r < all.rows; ++r, x += all.count, y += all.count) {
    const auto square = static_cast<float>(
        sum_of(x, all.count, [](std::int64_t, Floats some) { return some * some; }) / size);
    const auto root = static_cast<float>(
        __builtin_sqrt(static_cast<double>(square) + static_cast<double>(all.epsilon)));
    map(x, y, all.count, [&](std::int64_t k, Floats some) {
      return some / root * load_of(all.scale, k, all.count);
    });
  }
}

}  // namespace

const RowNormKernels TOUCHSTONE_ROW_NORMS{
    softmax,           log_softmax, layer,   root_mean_square, group,          all_columns<false>,
    all_columns<true>, by_one,      by_each, standard,         by_size<false>, by_size<true>,
    log_sum_exp};

}  // namespace touchstone
