// Mixed-radix Fourier transforms by Stockham's algorithm: each pass reads `radix` parts of the
// data, and writes neighbours in order. A pass has one factor for a whole run of elements, so
// runs are vectors.
//
// Compiled once per instruction set, with TOUCHSTONE_VECTOR_BYTES and TOUCHSTONE_FOURIER. Calls no
// inline function of the standard library, so that the linker cannot pick code for a newer
// processor for the rest of the program.
#include "optimized/kernels/fourier.h"

namespace touchstone::optimized {

namespace {

constexpr int lanes = TOUCHSTONE_VECTOR_BYTES / sizeof(double);

using Doubles __attribute__((vector_size(TOUCHSTONE_VECTOR_BYTES))) = double;
using Anywhere
    __attribute__((vector_size(TOUCHSTONE_VECTOR_BYTES), aligned(alignof(double)), may_alias)) =
        double;

template <class V>
inline V read(const double* at) {
  if constexpr (sizeof(V) == sizeof(double))
    return *at;
  else
    return *reinterpret_cast<const Anywhere*>(at);
}
template <class V>
inline void write(double* at, V x) {
  if constexpr (sizeof(V) == sizeof(double))
    *at = x;
  else
    *reinterpret_cast<Anywhere*>(at) = x;
}

template <class V>
struct Complex {
  V re, im;
  Complex operator+(const Complex& o) const { return {re + o.re, im + o.im}; }
  Complex operator-(const Complex& o) const { return {re - o.re, im - o.im}; }
  Complex operator*(double by) const { return {re * by, im * by}; }
  Complex turned(double cosine, double sine) const {
    return {re * cosine - im * sine, re * sine + im * cosine};
  }
  Complex quarter_back() const { return {im, -re}; }  // times -i
};

// Transforms of 2 to 5 elements, in place.
template <int radix, class V>
inline void small(Complex<V>* a) {
  using C = Complex<V>;
  if constexpr (radix == 2) {
    const C sum = a[0] + a[1], difference = a[0] - a[1];
    a[0] = sum, a[1] = difference;
  } else if constexpr (radix == 3) {
    const C sum = a[1] + a[2], turn = ((a[1] - a[2]) * 0.86602540378443864676).quarter_back();
    const C middle = a[0] - sum * 0.5;
    a[0] = a[0] + sum, a[1] = middle + turn, a[2] = middle - turn;
  } else if constexpr (radix == 4) {
    const C even = a[0] + a[2], odd = a[1] + a[3];
    const C even_less = a[0] - a[2], turn = (a[1] - a[3]).quarter_back();
    a[0] = even + odd, a[1] = even_less + turn, a[2] = even - odd, a[3] = even_less - turn;
  } else {
    constexpr double cos_1 = 0.30901699437494742410, cos_2 = -0.80901699437494742410;
    constexpr double sin_1 = 0.95105651629515357212, sin_2 = 0.58778525229247312917;
    const C near = a[1] + a[4], far = a[2] + a[3];
    const C near_less = a[1] - a[4], far_less = a[2] - a[3];
    const C one = a[0] + near * cos_1 + far * cos_2, two = a[0] + near * cos_2 + far * cos_1;
    const C turn_1 = (near_less * sin_1 + far_less * sin_2).quarter_back();
    const C turn_2 = (near_less * sin_2 - far_less * sin_1).quarter_back();
    a[0] = a[0] + near + far;
    a[1] = one + turn_1, a[4] = one - turn_1;
    a[2] = two + turn_2, a[3] = two - turn_2;
  }
}

struct Pass {
  const double *in_re, *in_im;
  double *out_re, *out_im;
  std::int64_t run;  // elements with the same factors
};

// Elements [x, x + the lanes of V) of run p; `part` runs lie between elements of a butterfly.
template <int radix, class V>
inline void butterfly(const Pass& pass, std::int64_t p, std::int64_t part, const double* turns,
                      std::int64_t x) {
  Complex<V> a[radix];
#pragma GCC unroll 5
  for (int j = 0; j < radix; ++j) {
    const std::int64_t at = (p + part * j) * pass.run + x;
    a[j] = {read<V>(pass.in_re + at), read<V>(pass.in_im + at)};
  }
  small<radix>(a);
#pragma GCC unroll 5
  for (int j = 0; j < radix; ++j) {
    const std::int64_t at = (radix * p + j) * pass.run + x;
    const Complex<V> made = j == 0 ? a[0] : a[j].turned(turns[2 * j - 2], turns[2 * j - 1]);
    write<V>(pass.out_re + at, made.re);
    write<V>(pass.out_im + at, made.im);
  }
}

template <int radix>
void run_pass(const Pass& pass, const FourierStage& stage) {
  const std::int64_t part = stage.length / radix;
  for (std::int64_t p = 0; p < part; ++p) {
    const double* const turns = stage.turns + p * 2 * (radix - 1);
    std::int64_t x = 0;
    for (; x + lanes <= pass.run; x += lanes) butterfly<radix, Doubles>(pass, p, part, turns, x);
    for (; x < pass.run; ++x) butterfly<radix, double>(pass, p, part, turns, x);
  }
}

// One butterfly of an odd radix. Elements i and radix - i meet the same cosine and opposite sines.
template <class V>
void odd_butterfly(const Pass& pass, const FourierStage& stage, std::int64_t p, const double* turns,
                   std::int64_t x) {
  const std::int64_t radix = stage.radix, part = stage.length / radix, half = radix / 2;
  Complex<V> sums[max_fourier_radix / 2], differences[max_fourier_radix / 2];
  const auto element = [&](std::int64_t j) {
    const std::int64_t at = (p + part * j) * pass.run + x;
    return Complex<V>{read<V>(pass.in_re + at), read<V>(pass.in_im + at)};
  };
  const auto put = [&](std::int64_t j, const Complex<V>& made) {
    const std::int64_t at = (radix * p + j) * pass.run + x;
    const Complex<V> turned = j == 0 ? made : made.turned(turns[2 * j - 2], turns[2 * j - 1]);
    write<V>(pass.out_re + at, turned.re);
    write<V>(pass.out_im + at, turned.im);
  };
  const Complex<V> first = element(0);
  Complex<V> all = first;
  for (std::int64_t i = 1; i <= half; ++i) {
    const Complex<V> a = element(i), b = element(radix - i);
    sums[i - 1] = a + b;
    differences[i - 1] = a - b;
    all = all + sums[i - 1];
  }
  put(0, all);
  for (std::int64_t j = 1; j <= half; ++j) {
    Complex<V> even = first, odd = {first.re * 0.0, first.im * 0.0};
    for (std::int64_t i = 1, root = j; i <= half; ++i) {
      even = even + sums[i - 1] * stage.roots[2 * root];
      odd = odd + differences[i - 1] * stage.roots[2 * root + 1];
      root += root + j < radix ? j : j - radix;
    }
    put(j, even + odd.quarter_back());
    put(radix - j, even - odd.quarter_back());
  }
}

void run_odd_pass(const Pass& pass, const FourierStage& stage) {
  for (std::int64_t p = 0; p < stage.length / stage.radix; ++p) {
    const double* const turns = stage.turns + p * 2 * (stage.radix - 1);
    std::int64_t x = 0;
    for (; x + lanes <= pass.run; x += lanes) odd_butterfly<Doubles>(pass, stage, p, turns, x);
    for (; x < pass.run; ++x) odd_butterfly<double>(pass, stage, p, turns, x);
  }
}

bool transform(const FourierStages& stages, std::int64_t width, double* re, double* im,
               double* spare_re, double* spare_im) {
  bool in_spare = false;
  for (std::int64_t k = 0; k < stages.count; ++k, in_spare = !in_spare) {
    const FourierStage& stage = stages.stages[k];
    const Pass pass = in_spare ? Pass{spare_re, spare_im, re, im, stage.before * width}
                               : Pass{re, im, spare_re, spare_im, stage.before * width};
    switch (stage.radix) {
      case 2:
        run_pass<2>(pass, stage);
        break;
      case 3:
        run_pass<3>(pass, stage);
        break;
      case 4:
        run_pass<4>(pass, stage);
        break;
      case 5:
        run_pass<5>(pass, stage);
        break;
      default:
        run_odd_pass(pass, stage);
        break;
    }
  }
  return in_spare;
}

template <bool is_complex>
void load_parts(const FourierLoad& load) {
  const std::int64_t width = load.width;
  for (std::int64_t v = 0; v < width; ++v) load.size[v] = 0;
  for (std::int64_t t = 0; t < load.count; ++t) {
    const float weight = load.weights != nullptr ? load.weights[t] : 1;
    for (std::int64_t v = 0; v < width; ++v) {
      const float* const from = load.from[v] + t * load.stride;
      const float re = from[0] * weight, im = is_complex ? from[1] * weight : 0;
      load.re[t * width + v] = re;
      load.im[t * width + v] = im;
      load.size[v] += re * 0 + im * 0;
    }
  }
}

void load_all(const FourierLoad& load) {
  load.is_complex ? load_parts<true>(load) : load_parts<false>(load);
}

void multiply(const double* factors, std::int64_t rows, std::int64_t width, double* re,
              double* im) {
  for (std::int64_t k = 0; k < rows; ++k) {
    const double cosine = factors[2 * k], sine = factors[2 * k + 1];
    for (std::int64_t x = k * width; x < (k + 1) * width; ++x) {
      const double real = re[x] * cosine - im[x] * sine;
      im[x] = re[x] * sine + im[x] * cosine;
      re[x] = real;
    }
  }
}

template <bool is_complex>
void store_parts(const FourierStore& store) {
  for (std::int64_t k = 0; k < store.count; ++k) {
    for (std::int64_t v = 0; v < store.width; ++v) {
      float* const to = store.to[v] + k * store.stride;
      const std::int64_t at = k * store.width + v;
      to[0] = static_cast<float>(store.re[at] / store.divisor);
      if (is_complex) to[1] = static_cast<float>(store.im[at] / store.divisor);
    }
  }
}

void store_all(const FourierStore& store) {
  store.is_complex ? store_parts<true>(store) : store_parts<false>(store);
}

}  // namespace

const FourierKernels TOUCHSTONE_FOURIER{load_all, transform, multiply, store_all};

}  // namespace touchstone::optimized
