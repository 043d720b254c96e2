// Overlaps of boxes, by vectors of boxes. Compiled once per instruction set, with
// TOUCHSTONE_VECTOR_BYTES and TOUCHSTONE_OVERLAPS, without contraction of products and sums. Calls
// no inline function of the standard library, as in ordered.cc.
#include "optimized/kernels/overlaps.h"

#include <immintrin.h>

#include "optimized/kernels/vector_exp.h"

namespace touchstone::optimized {

namespace {

inline bool is_any(Bits mask) {
#if TOUCHSTONE_VECTOR_BYTES == 64
  const auto all = reinterpret_cast<__m512i>(mask);
  return _mm512_test_epi32_mask(all, all) != 0;
#elif TOUCHSTONE_VECTOR_BYTES == 32
  const auto all = reinterpret_cast<__m256i>(mask);
  return _mm256_testz_si256(all, all) == 0;
#else
  const auto all = reinterpret_cast<__m128i>(mask);
  return _mm_testz_si128(all, all) == 0;
#endif
}

// The second operand where it is larger or smaller, so that NaN of either stays where the
// definition has it.
inline Floats larger(Floats a, Floats b) { return a < b ? b : a; }
inline Floats smaller(Floats a, Floats b) { return b < a ? b : a; }

}  // namespace

bool TOUCHSTONE_OVERLAPS(const float* boxes, std::int64_t plane, std::int64_t count,
                         const float* box, float threshold) {
  const Floats left = all(box[0]), right = all(box[1]), low = all(box[2]), high = all(box[3]);
  const Floats area = all(box[4]), zero = {}, most = all(threshold);
  const auto at = [&](int f, std::int64_t k) {
    return *reinterpret_cast<const Anywhere*>(boxes + f * plane + k);
  };
  for (std::int64_t k = 0; k < count; k += lanes_at_once) {
    const Floats begin = larger(left, at(0, k)), end = smaller(right, at(1, k));
    const Floats bottom = larger(low, at(2, k)), top = smaller(high, at(3, k));
    const Bits meet = (begin < end) & (bottom < top);
    if (!is_any(meet)) continue;
    const Floats other = at(4, k), shared = (end - begin) * (top - bottom);
    const Floats covered = area + other - shared;
    const Bits whole = (zero < area) & (zero < other) & (zero < covered);
    if (is_any(meet & whole & (most < shared / covered))) return true;
  }
  return false;
}

}  // namespace touchstone::optimized
