// Conversions between float32 and floats of 16 bits, by integer operations that compilers
// vectorize.
//
// Compiled once per instruction set, with TOUCHSTONE_HALF. Calls no inline function of the standard
// library, so that the linker cannot pick code for a newer processor for the rest of the program.
#include "optimized/kernels/half.h"

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

}  // namespace

extern const HalfTable TOUCHSTONE_HALF{Rows<Float16>::all, Rows<BFloat16>::all};

}  // namespace touchstone::optimized
