// Softmax and normalization of rows: passes over one row that stays in the cache.
//
// Compiled once per instruction set, with TOUCHSTONE_VECTOR_BYTES and TOUCHSTONE_ROW_NORMS. Calls
// no inline function of the standard library, so that the linker cannot pick code for a newer
// processor for the rest of the program.
#include "optimized/kernels/row_norms.h"

#include "optimized/kernels/row_loops.h"

namespace touchstone::optimized {
namespace {

// A row that holds NaN, or whose largest number is infinite, has NaN everywhere: an infinity minus
// itself is NaN.
inline bool is_finite(float x) { return x - x == 0; }
inline void fill_with_nan(float* y, std::int64_t count) {
  for (std::int64_t k = 0; k < count; ++k) y[k] = __builtin_nanf("");
}

// Softmax of a row of up to four vectors, which stay in registers.
template <int vectors>
inline void softmax_of_few(const float* x, float* y, std::int64_t rows, std::int64_t count) {
  constexpr std::int64_t before_last = (vectors - 1) * one_vector;
  const std::int64_t rest = count - before_last;
  const Bits inside = before(rest);
  const Floats lowest = all(-__builtin_inff());
  for (std::int64_t r = 0; r < rows; ++r, x += count, y += count) {
    Floats held[vectors], most = lowest;
    Bits nan = {};
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      held[v] = v + 1 < vectors      ? load_vector(x + v * one_vector)
                : rest == one_vector ? load_vector(x + before_last)
                                     : load_some(x + before_last, rest, -__builtin_inff());
      nan |= held[v] != held[v];
      most = held[v] > most ? held[v] : most;
    }
    const float largest = fold_extreme<false>(of_bits(bits(most) | nan));
    if (!is_finite(largest)) {
      fill_with_nan(y, count);
      continue;
    }
    Floats sum = {};
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      // Exponentials of lanes outside of the row would be subnormal, which takes far longer.
      const Floats less = held[v] - largest;
      held[v] = exp_of_negative(v + 1 < vectors ? less : of_bits(bits(less) & inside));
      sum += v + 1 < vectors ? held[v] : of_bits(bits(held[v]) & inside);
    }
    // At least one: the largest number's own. Quotients are at most one.
    const float total = fold(sum, [](Quad a, Quad b) { return a + b; });
    const Floats by = all(total), inverse = all(1.0F / total);
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      const Floats made = quotient(held[v], by, inverse);
      if (v + 1 < vectors || rest == one_vector)
        store_vector(y + v * one_vector, made);
      else
        store_some(y + before_last, rest, made);
    }
  }
}

void softmax(const float* x, float* y, std::int64_t rows, std::int64_t count) {
  if (count <= one_vector) return softmax_of_few<1>(x, y, rows, count);
  if (count <= 2 * one_vector) return softmax_of_few<2>(x, y, rows, count);
  if (count <= 3 * one_vector) return softmax_of_few<3>(x, y, rows, count);
  if (count <= four_vectors) return softmax_of_few<4>(x, y, rows, count);
  for (std::int64_t r = 0; r < rows; ++r, x += count, y += count) {
    const float most = extreme<false>(x, count);
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
    divide(y, y, count, sum);
  }
}

void log_softmax(const float* x, float* y, std::int64_t rows, std::int64_t count) {
  for (std::int64_t r = 0; r < rows; ++r, x += count, y += count) {
    const float most = extreme<false>(x, count);
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

// An infinity is the largest number of its row, and its logarithm.
void log_sum_exp(const float* x, float* y, std::int64_t rows, std::int64_t count) {
  for (std::int64_t r = 0; r < rows; ++r, x += count) {
    const float most = extreme<false>(x, count);
    y[r] = most;
    if (!is_finite(most)) continue;
    const double sum =
        sum_of(x, count, [&](std::int64_t, Floats some) { return exp_of_negative(some - most); });
    y[r] = static_cast<float>(static_cast<double>(most) + __builtin_log(sum));
  }
}

// Statistics of a row of up to four vectors, which stay in registers.
template <int vectors>
inline Statistics of_few(const float* x, std::int64_t count, double share, float epsilon) {
  const auto sum = [](const Floats(&of)[vectors]) {
    Floats made = of[0];
#pragma GCC unroll 4
    for (int v = 1; v < vectors; ++v) made += of[v];
    return static_cast<double>(fold(made, [](Quad a, Quad b) { return a + b; }));
  };
  constexpr std::int64_t before_last = (vectors - 1) * one_vector;
  Floats held[vectors];
#pragma GCC unroll 4
  for (int v = 0; v < vectors; ++v) held[v] = load_of(x, v * one_vector, count);
  const auto mean = static_cast<float>(sum(held) * share);
#pragma GCC unroll 4
  for (int v = 0; v < vectors; ++v) held[v] -= mean;
  held[vectors - 1] = of_bits(bits(held[vectors - 1]) & before(count - before_last));
#pragma GCC unroll 4
  for (int v = 0; v < vectors; ++v) held[v] *= held[v];
  return of_sums(mean, sum(held), share, epsilon);
}

inline Statistics statistics(const SegmentedRow& row, float epsilon) {
  const double share = 1.0 / (static_cast<double>(row.count) * static_cast<double>(row.segments));
  const auto sum = [&](auto term) {
    double made = 0;
    for (std::int64_t k = 0; k < row.segments; ++k)
      made += sum_of(row.x + k * row.stride, row.count, term);
    return made;
  };
  const auto mean = static_cast<float>(sum([](std::int64_t, Floats some) { return some; }) * share);
  const double squares = sum([&](std::int64_t, Floats some) {
    const Floats rest = some - mean;
    return rest * rest;
  });
  return of_sums(mean, squares, share, epsilon);
}
inline Statistics statistics(const float* x, std::int64_t count, float epsilon) {
  const double share = 1.0 / static_cast<double>(count);
  if (count <= one_vector) return of_few<1>(x, count, share, epsilon);
  if (count <= 2 * one_vector) return of_few<2>(x, count, share, epsilon);
  if (count <= 3 * one_vector) return of_few<3>(x, count, share, epsilon);
  if (count <= four_vectors) return of_few<4>(x, count, share, epsilon);
  return statistics({x, nullptr, count, 1, 0}, epsilon);
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

inline void scale_by_one(const float* x, float* y, std::int64_t count, Statistics of, float factor,
                         float scale, float bias) {
  if (is_factor(factor)) {
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
  for (std::int64_t k = 0; k < all.count; k += all.segment, ++channel) {
    const float scale = all.scale[channel];
    scale_by_one(all.x + k, all.y + k, all.segment, found, factor_of(scale, found.deviation), scale,
                 all.bias[channel]);
  }
}

void by_channels(const GivenStatistics& of) {
  const GivenStatistics all = of;
  for (std::int64_t r = 0, c = all.channel; r < all.rows; ++r, ++c) {
    if (c == all.channels) c = 0;
    scale_by_one(all.x + r * all.count, all.y + r * all.count, all.count,
                 {all.mean[c], all.deviation[c]}, all.factor[c], all.scale[c], all.bias[c]);
  }
}

void by_each(const GivenStatistics& of) {
  const GivenStatistics all = of;
  const std::int64_t count = all.channels;
  bool factors = true;
  for (std::int64_t c = 0; c < count; ++c) factors = factors && is_factor(all.factor[c]);
  for (std::int64_t r = 0; r < all.rows; ++r) {
    const float* const x = all.x + r * count;
    float* const y = all.y + r * count;
    if (factors) {
      map(x, y, count, [&](std::int64_t k, Floats some) {
        return (some - load_of(all.mean, k, count)) * load_of(all.factor, k, count) +
               load_of(all.bias, k, count);
      });
    } else {
      map(x, y, count, [&](std::int64_t k, Floats some) {
        return (some - load_of(all.mean, k, count)) / load_of(all.deviation, k, count) *
                   load_of(all.scale, k, count) +
               load_of(all.bias, k, count);
      });
    }
  }
}

void standard(const float* x, float* y, std::int64_t rows, std::int64_t count, float least) {
  for (std::int64_t r = 0; r < rows; ++r, x += count, y += count) {
    Statistics found = statistics(x, count, 0);
    found.deviation += least;
    scale_by_one(x, y, count, found, factor_of(1, found.deviation), 1, 0);
  }
}

void standard_segments(const SegmentedRow& of, float least) {
  const SegmentedRow row = of;
  Statistics found = statistics(row, 0);
  found.deviation += least;
  const float factor = factor_of(1, found.deviation);
  for (std::int64_t k = 0; k < row.segments; ++k)
    scale_by_one(row.x + k * row.stride, row.y + k * row.stride, row.count, found, factor, 1, 0);
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
      divide(x, y, count, size);
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
    const auto scaled = [&](std::int64_t k, Floats ratio) {
      return ratio * load_of(all.scale, k, all.count);
    };
    if (root > least_divisor && root < most_divisor) {
      const float inverse = 1.0F / root;
      map(x, y, all.count, [&](std::int64_t k, Floats some) {
        return scaled(k, quotient(some, optimized::all(root), optimized::all(inverse)));
      });
    } else {
      map(x, y, all.count, [&](std::int64_t k, Floats some) { return scaled(k, some / root); });
    }
  }
}

}  // namespace

const RowNormKernels TOUCHSTONE_ROW_NORMS{.softmax = softmax,
                                          .log_softmax = log_softmax,
                                          .layer = layer,
                                          .root_mean_square = root_mean_square,
                                          .group = group,
                                          .by_channels = by_channels,
                                          .by_each = by_each,
                                          .standard = standard,
                                          .standard_segments = standard_segments,
                                          .by_magnitudes = by_size<false>,
                                          .by_squares = by_size<true>,
                                          .log_sum_exp = log_sum_exp};

}  // namespace touchstone::optimized
