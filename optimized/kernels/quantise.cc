// Quantization of rows of numbers, by plain loops that compilers vectorize.
//
// Compiled once per instruction set, with TOUCHSTONE_QUANTISE. Calls no inline function of the
// standard library, so that the linker cannot pick code for a newer processor for the rest of the
// program.
#include "optimized/kernels/quantise.h"

namespace touchstone::optimized {
namespace {

using Floats __attribute__((vector_size(TOUCHSTONE_VECTOR_BYTES))) = float;
using Bits __attribute__((vector_size(TOUCHSTONE_VECTOR_BYTES))) = std::int32_t;
using Anywhere
    __attribute__((vector_size(TOUCHSTONE_VECTOR_BYTES), aligned(alignof(float)), may_alias)) =
        float;
constexpr int lanes = TOUCHSTONE_VECTOR_BYTES / sizeof(float);

NumberRange range(const float* x, std::int64_t count) {
  Floats low{}, high{};
  for (int k = 0; k < lanes; ++k) {
    low[k] = __builtin_inff();
    high[k] = -__builtin_inff();
  }
  Floats lows[4] = {low, low, low, low}, highs[4] = {high, high, high, high};
  Bits odd{};  // not equal to itself, or infinite
  const Floats infinite = low;
  std::int64_t k = 0;
  for (; k + 4 * lanes <= count; k += 4 * lanes) {
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) {
      const Floats some = *reinterpret_cast<const Anywhere*>(x + k + v * lanes);
      odd |= some != some;
      lows[v] = some < lows[v] ? some : lows[v];
      highs[v] = some > highs[v] ? some : highs[v];
    }
  }
  NumberRange found{low[0], high[0], true};
  for (int v = 0; v < 4; ++v) {
    odd |= lows[v] == -infinite || highs[v] == infinite;
    for (int lane = 0; lane < lanes; ++lane) {
      if (lows[v][lane] < found.low) found.low = lows[v][lane];
      if (highs[v][lane] > found.high) found.high = highs[v][lane];
    }
  }
  for (int lane = 0; lane < lanes; ++lane) {
    if (odd[lane] != 0) found.finite = false;
  }
  for (; k < count; ++k) {
    if (x[k] - x[k] != 0) found.finite = false;
    if (x[k] < found.low) found.low = x[k];
    if (x[k] > found.high) found.high = x[k];
  }
  return found;
}

template <class T>
struct Limits;
template <>
struct Limits<std::uint8_t> {
  static constexpr float low = 0, high = 255;
};
template <>
struct Limits<std::int8_t> {
  static constexpr float low = -128, high = 127;
};
template <>
struct Limits<std::uint16_t> {
  static constexpr float low = 0, high = 65535;
};
template <>
struct Limits<std::int16_t> {
  static constexpr float low = -32768, high = 32767;
};

template <class T>
inline T rounded(float quotient, float zero) {
  const float moved = __builtin_rintf(quotient) + zero;
  const float number = moved == moved ? moved : 0.0F;
  const float raised = number < Limits<T>::low ? Limits<T>::low : number;
  return static_cast<T>(
      static_cast<std::int32_t>(raised > Limits<T>::high ? Limits<T>::high : raised));
}

template <class X, class T>
void quantise_as(const QuantisedRow& row, const X* __restrict x, T* __restrict y) {
  if (row.step == 0) {
    const float scale = row.scale[0], zero = row.zero == nullptr ? 0.0F : row.zero[0];
    for (std::int64_t k = 0; k < row.count; ++k)
      y[k] = rounded<T>(static_cast<float>(x[k]) / scale, zero);
    return;
  }
  const float *const scale = row.scale, *const zero = row.zero;
  if (zero == nullptr) {
    for (std::int64_t k = 0; k < row.count; ++k)
      y[k] = rounded<T>(static_cast<float>(x[k]) / scale[k], 0.0F);
    return;
  }
  for (std::int64_t k = 0; k < row.count; ++k)
    y[k] = rounded<T>(static_cast<float>(x[k]) / scale[k], zero[k]);
}

template <class X>
void quantise(const QuantisedRow& row, const X* x, QuantisedType type, void* y) {
  switch (type) {
    case QuantisedType::uint8:
      return quantise_as(row, x, static_cast<std::uint8_t*>(y));
    case QuantisedType::int8:
      return quantise_as(row, x, static_cast<std::int8_t*>(y));
    case QuantisedType::uint16:
      return quantise_as(row, x, static_cast<std::uint16_t*>(y));
    case QuantisedType::int16:
      return quantise_as(row, x, static_cast<std::int16_t*>(y));
    case QuantisedType::int32:
      return;
  }
}

template <class T>
void dequantise_from(const QuantisedRow& row, const T* __restrict x, float* __restrict y) {
  if (row.step == 0) {
    const float scale = row.scale[0], zero = row.zero == nullptr ? 0.0F : row.zero[0];
    for (std::int64_t k = 0; k < row.count; ++k) y[k] = (static_cast<float>(x[k]) - zero) * scale;
    return;
  }
  const float *const scale = row.scale, *const zero = row.zero;
  if (zero == nullptr) {
    for (std::int64_t k = 0; k < row.count; ++k) y[k] = static_cast<float>(x[k]) * scale[k];
    return;
  }
  for (std::int64_t k = 0; k < row.count; ++k)
    y[k] = (static_cast<float>(x[k]) - zero[k]) * scale[k];
}

void dequantise(const QuantisedRow& row, const void* x, QuantisedType type, float* y) {
  switch (type) {
    case QuantisedType::uint8:
      return dequantise_from(row, static_cast<const std::uint8_t*>(x), y);
    case QuantisedType::int8:
      return dequantise_from(row, static_cast<const std::int8_t*>(x), y);
    case QuantisedType::uint16:
      return dequantise_from(row, static_cast<const std::uint16_t*>(x), y);
    case QuantisedType::int16:
      return dequantise_from(row, static_cast<const std::int16_t*>(x), y);
    case QuantisedType::int32:
      return dequantise_from(row, static_cast<const std::int32_t*>(x), y);
  }
}

// Divides by a constant: has the bits of x / by, if neither is close to overflow or to 0.
class Divisor {
 public:
  explicit Divisor(float by) : by_(by), inverse_(1 / by) {}
  float of(float x) const {
#ifdef __FMA__
    const float near = x * inverse_;
    return __builtin_fmaf(__builtin_fmaf(-near, by_, x), inverse_, near);
#else
    return x / by_;
#endif
  }

 private:
  float by_, inverse_;
};

void quantise_small(float scale, float zero, std::int64_t count, const float* __restrict x,
                    std::uint8_t* __restrict y) {
  const Divisor divisor(scale);
  for (std::int64_t k = 0; k < count; ++k) y[k] = rounded<std::uint8_t>(divisor.of(x[k]), zero);
}

template <class A, class B, class Y>
void add_as(const QuantisedSum& sum, const void* left, const void* right, std::int64_t count,
            void* made) {
  const auto* const __restrict a = static_cast<const A*>(left);
  const auto* const __restrict b = static_cast<const B*>(right);
  auto* const __restrict y = static_cast<Y*>(made);
  const Divisor divisor(sum.y.scale);
  const QuantisedSum by = sum;
  for (std::int64_t k = 0; k < count; ++k) {
    const float real = (static_cast<float>(a[k]) - by.a.zero) * by.a.scale +
                       (static_cast<float>(b[k]) - by.b.zero) * by.b.scale;
    const float moved = __builtin_rintf(divisor.of(real)) + by.y.zero;
    const float raised = moved < by.low ? by.low : moved;
    y[k] = static_cast<Y>(static_cast<std::int32_t>(raised > by.high ? by.high : raised));
  }
}

template <class A, class B>
void add_to(const QuantisedSum& sum, const void* a, const void* b, std::int64_t count, void* y) {
  if (sum.y.is_signed) return add_as<A, B, std::int8_t>(sum, a, b, count, y);
  add_as<A, B, std::uint8_t>(sum, a, b, count, y);
}

template <class A>
void add_with(const QuantisedSum& sum, const void* a, const void* b, std::int64_t count, void* y) {
  if (sum.b.is_signed) return add_to<A, std::int8_t>(sum, a, b, count, y);
  add_to<A, std::uint8_t>(sum, a, b, count, y);
}

void add(const QuantisedSum& sum, const void* a, const void* b, std::int64_t count, void* y) {
  if (sum.a.is_signed) return add_with<std::int8_t>(sum, a, b, count, y);
  add_with<std::uint8_t>(sum, a, b, count, y);
}

}  // namespace

const QuantiseKernels TOUCHSTONE_QUANTISE{range,          quantise<float>, quantise<std::int32_t>,
                                          quantise_small, dequantise,      add};

}  // namespace touchstone::optimized
