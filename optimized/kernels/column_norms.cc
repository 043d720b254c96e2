// Softmax and normalization of columns: passes over a few vectors of columns, whose rows stay in
// the cache.
//
// Compiled once per instruction set, with TOUCHSTONE_VECTOR_BYTES and TOUCHSTONE_COLUMN_NORMS.
// Calls no inline function of the standard library, as row_norms.cc.
#include "optimized/kernels/column_norms.h"

#include "optimized/kernels/row_loops.h"

namespace touchstone::optimized {
namespace {

// Up to `vectors` vectors of columns side by side; `last` columns are of the last vector.
template <int vectors>
struct Columns {
  std::int64_t last;

  Floats read(const float* row, int v) const {
    return v + 1 < vectors ? load_vector(row + v * one_vector)
                           : load_of(row, v * one_vector, v * one_vector + last);
  }
  void write(float* row, int v, Floats made) const {
    if (v + 1 < vectors || last == one_vector) {
      store_vector(row + v * one_vector, made);
    } else {
      store_some(row + v * one_vector, last, made);
    }
  }
};

// Softmax or its logarithm of columns.
template <int vectors, bool logarithm>
inline void some_columns(const float* x, float* y, std::int64_t count, std::int64_t stride,
                         Columns<vectors> some_of) {
  const auto read = [&](const float* row, int v) { return some_of.read(row, v); };
  const auto write = [&](float* row, int v, Floats made) { some_of.write(row, v, made); };
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
  Floats inverse[vectors];
  for (int v = 0; v < vectors; ++v) {
    sums[v] = of_bits(bits(sums[v]) | nan[v]);
    inverse[v] = 1.0F / sums[v];
  }
  for (std::int64_t k = 0; k < count; ++k) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      float* const to = y + k * stride;
      write(to, v,
            logarithm ? (read(x + k * stride, v) - most[v]) - sums[v]
                      : quotient(read(to, v), sums[v], inverse[v]));
    }
  }
}

// Calls some(x, y, columns) for blocks of columns of four vectors or one.
template <class Some>
inline void each_columns(const NormalizedColumns& all, Some some) {
  for (std::int64_t c = 0; c < all.columns;) {
    const std::int64_t left = all.columns - c;
    if (left >= four_vectors) {
      some(all.x + c, all.y + c, Columns<4>{one_vector});
      c += four_vectors;
    } else {
      const Columns<1> one{left < one_vector ? left : one_vector};
      some(all.x + c, all.y + c, one);
      c += one.last;
    }
  }
}

template <bool logarithm>
void all_columns(const NormalizedColumns& of) {
  const NormalizedColumns all = of;
  each_columns(all, [&]<int vectors>(const float* x, float* y, Columns<vectors> columns) {
    some_columns<vectors, logarithm>(x, y, all.count, all.stride, columns);
  });
}

inline Bits is_divisor(Floats by) { return (by > least_divisor) & (by < most_divisor); }
inline bool is_none(Bits mask) {
  std::int32_t any = 0;
  for (int k = 0; k < lanes_at_once; ++k) any |= mask[k];
  return any == 0;
}

// One number for each column.
template <int vectors>
struct OfColumns {
  double at[vectors][lanes_at_once];
};

// Calls term(v, numbers) for each vector of each row of columns; sums the results.
template <int vectors, class Term>
[[gnu::always_inline]] inline OfColumns<vectors> sum_columns(const float* x,
                                                             const NormalizedColumns& all,
                                                             Columns<vectors> columns, Term term) {
  constexpr std::int64_t in_float32 = 64;  // rows
  OfColumns<vectors> sums{};
  for (std::int64_t k = 0; k < all.count;) {
    const std::int64_t end = all.count - k < in_float32 ? all.count : k + in_float32;
    Floats some[vectors] = {};
    for (; k < end; ++k) {
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) some[v] += term(v, columns.read(x + k * all.stride, v));
    }
    for (int v = 0; v < vectors; ++v) {
      for (int lane = 0; lane < lanes_at_once; ++lane)
        sums.at[v][lane] += static_cast<double>(some[v][lane]);
    }
  }
  return sums;
}

template <int vectors, class Result>
[[gnu::always_inline]] inline void map_columns(const float* x, float* y,
                                               const NormalizedColumns& all,
                                               Columns<vectors> columns, Result result) {
  for (std::int64_t k = 0; k < all.count; ++k) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v)
      columns.write(y + k * all.stride, v, result(v, columns.read(x + k * all.stride, v)));
  }
}

void standard_columns(const NormalizedColumns& of, float least) {
  const NormalizedColumns all = of;
  const double share = 1.0 / static_cast<double>(all.count);
  each_columns(all, [&]<int vectors>(const float* x, float* y, Columns<vectors> columns) {
    Floats mean[vectors], deviation[vectors], factor[vectors];
    const OfColumns<vectors> sums =
        sum_columns(x, all, columns, [](int, Floats some) { return some; });
    for (int v = 0; v < vectors; ++v) {
      for (int k = 0; k < lanes_at_once; ++k)
        mean[v][k] = static_cast<float>(sums.at[v][k] * share);
    }
    const OfColumns<vectors> squares = sum_columns(x, all, columns, [&](int v, Floats some) {
      const Floats rest = some - mean[v];
      return rest * rest;
    });
    bool factors = true;
    for (int v = 0; v < vectors; ++v) {
      for (int k = 0; k < lanes_at_once; ++k) {
        const Statistics found = of_sums(mean[v][k], squares.at[v][k], share, 0);
        deviation[v][k] = found.deviation + least;
        factor[v][k] = factor_of(1, deviation[v][k]);
        factors = factors && is_factor(factor[v][k]);
      }
    }
    if (factors) {
      map_columns(x, y, all, columns,
                  [&](int v, Floats some) { return (some - mean[v]) * factor[v]; });
    } else {
      map_columns(x, y, all, columns,
                  [&](int v, Floats some) { return (some - mean[v]) / deviation[v]; });
    }
  });
}

// Columns of zeros are zeros.
template <bool squares>
void columns_by_size(const NormalizedColumns& of) {
  const NormalizedColumns all = of;
  each_columns(all, [&]<int vectors>(const float* x, float* y, Columns<vectors> columns) {
    const OfColumns<vectors> sums = sum_columns(
        x, all, columns, [](int, Floats some) { return squares ? some * some : size_of(some); });
    Floats size[vectors];
    for (int v = 0; v < vectors; ++v) {
      for (int k = 0; k < lanes_at_once; ++k) {
        const auto sum = static_cast<float>(sums.at[v][k]);
        size[v][k] = squares ? __builtin_sqrtf(sum) : sum;
      }
    }
    Bits other = {};  // sizes that have no reciprocal
    Floats inverse[vectors];
    for (int v = 0; v < vectors; ++v) {
      other |= (size[v] != Floats{}) & ~is_divisor(size[v]);
      inverse[v] = 1.0F / size[v];
    }
    if (is_none(other)) {
      map_columns(x, y, all, columns, [&](int v, Floats some) {
        return of_bits(bits(quotient(some, size[v], inverse[v])) & (size[v] != Floats{}));
      });
    } else {
      map_columns(x, y, all, columns, [&](int v, Floats some) {
        return of_bits(bits(some / size[v]) & (size[v] != Floats{}));
      });
    }
  });
}

}  // namespace

const ColumnNormKernels TOUCHSTONE_COLUMN_NORMS{.softmax = all_columns<false>,
                                                .log_softmax = all_columns<true>,
                                                .standard = standard_columns,
                                                .by_magnitudes = columns_by_size<false>,
                                                .by_squares = columns_by_size<true>};

}  // namespace touchstone::optimized
