// Largest numbers of the window's columns first, for all output rows; then those of its rows.
#include "optimized/lowering/plane_pool.h"

#include <algorithm>

#include "core/budget.h"
#include "optimized/lowering/integer_product.h"

namespace touchstone::optimized {
namespace {

constexpr Index vector = 16;  // bytes of the vectors of IntegerRowKernels::largest

Index whole_vectors(Index bytes) { return ceil_div(bytes, vector) * vector; }

// Elements that all windows reach along dimension d, padding included.
Index reach(const Sliding& s, Index d) {
  return (s.out[d] - 1) * s.stride[d] + (s.kernel[d] - 1) * s.dilation[d] + 1;
}

}  // namespace

std::optional<PlanePool> PlanePool::of(const Sliding& s, Index most) {
  if (s.image.size() != 2) return std::nullopt;
  for (const Index d : {0, 1}) {
    const auto fits = [&](Index size) { return size > 0 && size <= most; };
    if (!fits(s.image[d]) || !fits(s.out[d]) || !fits(s.kernel[d])) return std::nullopt;
    if (!fits(s.stride[d]) || !fits(s.dilation[d])) return std::nullopt;
    if (s.before[d] < 0 || s.before[d] > most) return std::nullopt;
    if (reach(s, d) > most) return std::nullopt;
  }
  PlanePool made;
  made.window_ = s;
  made.rows_ = std::max(reach(s, 0), s.before[0] + s.image[0]);
  made.pitch_ = std::max(reach(s, 1), s.before[1] + s.image[1]);
  if (s.stride[0] > 1) made.pitch_ = whole_vectors(made.pitch_);
  made.bytes_ = whole_vectors(made.rows_ * made.pitch_) + 2 * vector;
  if (made.bytes_ > most) return std::nullopt;
  return made;
}

void PlanePool::run(const void* plane, bool is_signed, float* scratch, void* made) const {
  const Sliding& s = window_;
  const auto* const image = static_cast<const std::uint8_t*>(plane);
  auto* const to = static_cast<std::uint8_t*>(made);
  const auto least = static_cast<std::uint8_t>(is_signed ? -128 : 0);
  const auto largest = integer_rows().largest;
  auto* const padded = reinterpret_cast<std::uint8_t*>(scratch);
  std::uint8_t* const columns = padded + bytes_;
  std::fill_n(padded, 2 * bytes_, least);
  for (Index row = 0; row < s.image[0]; ++row)
    std::copy_n(image + row * s.image[1], s.image[1],
                padded + (s.before[0] + row) * pitch_ + s.before[1]);
  // Rows without a stride are one long row. What whole vectors write beyond them is never read.
  const Index all = s.out[0] * pitch_;
  const Index lines = s.stride[0] == 1 ? 1 : s.out[0];
  const Index line = s.stride[0] == 1 ? whole_vectors(all) : pitch_;
  charge_work(bytes_ * (s.kernel[0] + s.kernel[1]));
  for (Index k = 0; k < lines; ++k) {
    for (Index t = 0; t < s.kernel[0]; ++t)
      largest(padded + (k * s.stride[0] + t * s.dilation[0]) * pitch_, 1, line, is_signed,
              columns + k * pitch_);
  }
  std::fill_n(padded, all, least);
  for (Index t = 0; t < s.kernel[1]; ++t)
    largest(columns + t * s.dilation[1], 1, whole_vectors(all - t * s.dilation[1]), is_signed,
            padded);
  for (Index row = 0; row < s.out[0]; ++row) {
    const std::uint8_t* const from = padded + row * pitch_;
    std::uint8_t* const line_made = to + row * s.out[1];
    if (s.stride[1] == 1) {
      std::copy_n(from, s.out[1], line_made);
    } else {
      for (Index k = 0; k < s.out[1]; ++k) line_made[k] = from[k * s.stride[1]];
    }
  }
}

}  // namespace touchstone::optimized
