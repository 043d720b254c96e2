// Vectors of floats and their exponential, included by kernels that are compiled once per
// instruction set, with TOUCHSTONE_VECTOR_BYTES. Includes no common header, so that no code for a
// newer processor leaks out of those files.
#pragma once

#include <cstdint>

namespace touchstone::optimized {
namespace {

constexpr int lanes_at_once = TOUCHSTONE_VECTOR_BYTES / sizeof(float);

using Floats __attribute__((vector_size(TOUCHSTONE_VECTOR_BYTES))) = float;
using Anywhere
    __attribute__((vector_size(TOUCHSTONE_VECTOR_BYTES), aligned(alignof(float)), may_alias)) =
        float;
using Bits __attribute__((vector_size(TOUCHSTONE_VECTOR_BYTES))) = std::int32_t;

// Reads and writes `count` lanes; the others are zero.
inline Floats load(const float* at, std::int64_t count) {
  if (count >= lanes_at_once) return *reinterpret_cast<const Anywhere*>(at);
  Floats x = {};
  for (int k = 0; k < count; ++k) x[k] = at[k];
  return x;
}
inline void store(float* at, std::int64_t count, Floats x) {
  if (count >= lanes_at_once) {
    *reinterpret_cast<Anywhere*>(at) = x;
    return;
  }
  for (int k = 0; k < count; ++k) at[k] = x[k];
}

inline Bits bits(Floats x) { return reinterpret_cast<Bits>(x); }
inline Floats of_bits(Bits b) { return reinterpret_cast<Floats>(b); }
inline Floats all(float x) { return x - Floats{}; }
inline Floats choose(Bits mask, Floats yes, Floats no) {
  return of_bits((mask & bits(yes)) | (~mask & bits(no)));
}
inline Floats size_of(Floats x) { return of_bits(bits(x) & 0x7fffffff); }

// e^x for x up to 0; for NaN the result is unspecified. A sum whose last bit is worth 1 finds the
// integer nearest to x / ln 2. 2^-64 is multiplied last, so that a subnormal result is rounded
// once.
inline Floats exp_of_negative(Floats x) {
  const Floats cut = choose(x < -104.0F, all(-104.0F), x);
  const Floats found = cut * 1.44269504F + (12582912.0F + 64.0F);
  const Floats whole = found - (12582912.0F + 64.0F);
  const Floats rest = (cut - whole * 0.693359375F) - whole * -2.12194440e-4F;
  Floats tail = rest * 0x1.6a4154p-10F + 0x1.1239c6p-7F;
  tail = tail * rest + 0x1.5558bcp-5F;
  tail = tail * rest + 0x1.555492p-3F;
  tail = tail * rest + 0x1.fffffcp-2F;
  const Floats around_one = ((rest * rest) * tail + rest) + 1.0F;
  return of_bits(bits(around_one) + (bits(found) << 23)) * 0x1p-64F;
}

}  // namespace
}  // namespace touchstone::optimized
