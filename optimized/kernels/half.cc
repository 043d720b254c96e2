// Conversions between float32 and floats of 16 bits, by integer operations that compilers
// vectorize; of float16, by the processor's instructions where it has them.
//
// Compiled once per instruction set, with TOUCHSTONE_VECTOR_BYTES and TOUCHSTONE_HALF. Calls no
// inline function of the standard library, so that the linker cannot pick code for a newer
// processor for the rest of the program.
#include "optimized/kernels/half.h"

#include <immintrin.h>

namespace touchstone::optimized {
namespace {

using Bits = std::uint32_t;
constexpr Bits sign_bit = 0x80000000U, infinite = 0x7F800000U;

inline Bits bits_of(float x) { return __builtin_bit_cast(Bits, x); }
inline float float_of(Bits bits) { return __builtin_bit_cast(float, bits); }

struct Float16 {
  static constexpr Bits rebias = 112U << 23;
  static constexpr Bits smallest_normal = 0x38800000U, too_large = 0x47800000U;
  // Unit in the last place of numbers in [0.5, 1): the step of subnormal numbers.
  static constexpr float magic = 0.5F;

  // Magnitudes, rounded to nearest even.
  static Bits rounded(Bits magnitude) {
    const Bits normal = (magnitude + 0xFFFU + (magnitude >> 13 & 1U)) & ~0x1FFFU;
    const Bits small = bits_of((float_of(magnitude) + magic) - magic);
    const Bits finite = magnitude < smallest_normal ? small : normal;
    const Bits limited = finite >= too_large ? infinite : finite;
    return magnitude > infinite ? 0x7FC00000U : limited;
  }
  static std::uint16_t from_float(float x) {
    const Bits bits = bits_of(x), magnitude = bits & ~sign_bit;
    const Bits normal = (magnitude - rebias + 0xFFFU + (magnitude >> 13 & 1U)) >> 13;
    const Bits small = bits_of(float_of(magnitude) + magic) - bits_of(magic);
    const Bits finite = magnitude < smallest_normal ? small : normal;
    const Bits limited = magnitude >= too_large ? 0x7C00U : finite;
    const Bits code = magnitude > infinite ? 0x7E00U : limited;
    return static_cast<std::uint16_t>((bits >> 16 & 0x8000U) | code);
  }
  static float to_float(std::uint16_t code) {
    const Bits sign = static_cast<Bits>(code & 0x8000U) << 16, magnitude = code & 0x7FFFU;
    const Bits shifted = (magnitude << 13) + rebias;
    const float small = static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24F;
    const Bits finite = magnitude < 0x0400U ? bits_of(small) : shifted;
    return float_of(sign | (magnitude >= 0x7C00U ? shifted + rebias : finite));
  }
};

struct BFloat16 {
  static Bits rounded(Bits magnitude) {
    const Bits finite = (magnitude + 0x7FFFU + (magnitude >> 16 & 1U)) & 0xFFFF0000U;
    return magnitude > infinite ? 0x7FC00000U : finite;
  }
  static std::uint16_t from_float(float x) {
    const Bits bits = bits_of(x);
    return static_cast<std::uint16_t>((bits & sign_bit) >> 16 | rounded(bits & ~sign_bit) >> 16);
  }
  static float to_float(std::uint16_t code) { return float_of(static_cast<Bits>(code) << 16); }
};

template <class Half>
struct Rows {
  static void from_float(const float* __restrict x, std::uint16_t* __restrict y,
                         std::int64_t count) {
    for (std::int64_t k = 0; k < count; ++k) y[k] = Half::from_float(x[k]);
  }
  static void to_float(const std::uint16_t* __restrict x, float* __restrict y, std::int64_t count) {
    for (std::int64_t k = 0; k < count; ++k) y[k] = Half::to_float(x[k]);
  }
  static void round(const float* x, float* y, std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t k = 0; k < count; ++k) {
      const Bits bits = bits_of(x[k]);
      y[k] = float_of((bits & sign_bit) | Half::rounded(bits & ~sign_bit));
    }
  }
  static constexpr HalfKernels all{from_float, to_float, round};
};

#if TOUCHSTONE_VECTOR_BYTES >= 32
// Instructions quiet a NaN, so vectors with one are converted by the loops above.
#if TOUCHSTONE_VECTOR_BYTES == 64
using Floats = __m512;
using Codes = __m256i;
inline Floats load(const float* x) { return _mm512_loadu_ps(x); }
inline void store(float* y, Floats v) { _mm512_storeu_ps(y, v); }
inline Codes load(const std::uint16_t* x) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x));
}
inline void store(std::uint16_t* y, Codes v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(y), v);
}
inline Codes codes_of(Floats v) {
  return _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
inline Floats floats_of(Codes v) { return _mm512_cvtph_ps(v); }
inline bool has_nan(Floats v) { return _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q) != 0; }
#else
using Floats = __m256;
using Codes = __m128i;
inline Floats load(const float* x) { return _mm256_loadu_ps(x); }
inline void store(float* y, Floats v) { _mm256_storeu_ps(y, v); }
inline Codes load(const std::uint16_t* x) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(x));
}
inline void store(std::uint16_t* y, Codes v) { _mm_storeu_si128(reinterpret_cast<__m128i*>(y), v); }
inline Codes codes_of(Floats v) { return _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT); }
inline Floats floats_of(Codes v) { return _mm256_cvtph_ps(v); }
inline bool has_nan(Floats v) { return _mm256_movemask_ps(_mm256_cmp_ps(v, v, _CMP_UNORD_Q)) != 0; }
#endif

struct Float16Vectors {
  using Loops = Rows<Float16>;
  static constexpr std::int64_t lanes = TOUCHSTONE_VECTOR_BYTES / 4;

  static void from_float(const float* x, std::uint16_t* y, std::int64_t count) {
    std::int64_t k = 0;
    for (; k + lanes <= count; k += lanes) {
      const Floats v = load(x + k);
      if (has_nan(v))
        Loops::from_float(x + k, y + k, lanes);
      else
        store(y + k, codes_of(v));
    }
    Loops::from_float(x + k, y + k, count - k);
  }
  static void to_float(const std::uint16_t* x, float* y, std::int64_t count) {
    std::int64_t k = 0;
    for (; k + lanes <= count; k += lanes) {
      const Floats v = floats_of(load(x + k));
      if (has_nan(v))
        Loops::to_float(x + k, y + k, lanes);
      else
        store(y + k, v);
    }
    Loops::to_float(x + k, y + k, count - k);
  }
  static void round(const float* x, float* y, std::int64_t count) {
    std::int64_t k = 0;
    for (; k + lanes <= count; k += lanes) {
      const Floats v = load(x + k);
      if (has_nan(v))
        Loops::round(x + k, y + k, lanes);
      else
        store(y + k, floats_of(codes_of(v)));
    }
    Loops::round(x + k, y + k, count - k);
  }
  static constexpr HalfKernels all{from_float, to_float, round};
};
#else
using Float16Vectors = Rows<Float16>;
#endif

}  // namespace

extern const HalfTable TOUCHSTONE_HALF{Float16Vectors::all, Rows<BFloat16>::all};

}  // namespace touchstone::optimized
