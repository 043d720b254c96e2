// Adds products to split lines: columns of one remainder by the stride are neighbors there.
#include "optimized/lowering/transposed_spread.h"

#include <algorithm>

#include "core/budget.h"

namespace touchstone::optimized {
namespace {

constexpr Index most_places = Index{1} << 16;

}  // namespace

TransposedSpread::TransposedSpread(const Sliding& window, Index most) : window_(window) {
  const Sliding& s = window_;
  const Index inner = s.image.size() - 1, width = s.out[inner], step = s.stride[inner];
  image_lines_ = 1, lines_ = 1;
  Index outer = 1;
  for (Index d = 0; d < inner; ++d) {
    image_lines_ *= s.image[d];
    lines_ *= s.out[d];
    outer *= s.kernel[d];
  }
  // A stride beyond the output splits nothing.
  if (step > 1 && step <= width && lines_ <= most / width) {
    pitch_ = ceil_div(width, step);
    step_ = lines_ * step * pitch_ <= most ? step : 1;
  }
  if (outer > most_places || image_lines_ > most_places / std::max<Index>(outer, 1)) return;
  for (Index t = 0; t < outer; ++t) {
    charge_work(image_lines_);
    for (Index line = 0; line < image_lines_; ++line) places_.push_back(line_of(line, t));
  }
}

// The output line that an outer term of an image line reaches, or -1.
Index TransposedSpread::line_of(Index line, Index outer) const {
  const Sliding& s = window_;
  Index along = 1, at = 0;
  for (Index d = s.image.size() - 1; d-- > 0;) {
    const Index place =
        line % s.image[d] * s.stride[d] + outer % s.kernel[d] * s.dilation[d] - s.before[d];
    if (place < 0 || place >= s.out[d]) return -1;
    at += place * along;
    along *= s.out[d];
    line /= s.image[d];
    outer /= s.kernel[d];
  }
  return at;
}

void TransposedSpread::fill(float bias, float* points, float* split) const {
  if (step_ == 1) {
    std::fill_n(points, lines_ * window_.out.back(), bias);
  } else {
    std::fill_n(split, channel_floats(), bias);
  }
}

void TransposedSpread::add(Index term, const float* products, Index first, Index count,
                           float* points, float* split) const {
  const Sliding& s = window_;
  const Index width = s.image.back(), out = s.out.back(), stride = s.stride.back();
  const Index outer = term / s.kernel.back();
  const Index shift = term % s.kernel.back() * s.dilation.back() - s.before.back();
  // Image coordinates whose output point exists.
  const Index low = ceil_div(-shift, stride), high = ceil_div(out - shift, stride);
  const Index phase = step_ == 1 ? 0 : shift - floor_div(shift, step_) * step_;
  const Index* const places = places_.empty() ? nullptr : places_.data() + outer * image_lines_;
  charge_work(count);
  Index line = first / width, x = first % width;
  for (Index k = 0; k < count; ++line, x = 0) {
    const Index some = std::min(width - x, count - k);
    const Index at = places == nullptr ? line_of(line, outer) : places[line];
    const Index from = std::max(low, x), to = std::min(high, x + some);
    if (at >= 0 && from < to) {
      const float* const source = products + k - x;
      if (step_ > 1) {
        float* const made = split + (at * step_ + phase) * pitch_ + floor_div(shift, step_);
        for (Index i = from; i < to; ++i) made[i] += source[i];
      } else if (stride == 1) {
        float* const made = points + at * out + shift;
        for (Index i = from; i < to; ++i) made[i] += source[i];
      } else {
        float* const made = points + at * out + shift;
        for (Index i = from; i < to; ++i) made[i * stride] += source[i];
      }
    }
    k += some;
  }
}

void TransposedSpread::join(const float* split, float* points) const {
  if (step_ == 1) return;
  const Index out = window_.out.back();
  for (Index line = 0; line < lines_; ++line, points += out, split += step_ * pitch_) {
    if (step_ == 2) {
      const float* const odd = split + pitch_;
      for (Index k = 0; k < out / 2; ++k) {
        points[2 * k] = split[k];
        points[2 * k + 1] = odd[k];
      }
      if (out % 2 == 1) points[out - 1] = split[out / 2];
      continue;
    }
    for (Index phase = 0; phase < step_; ++phase) {
      const float* const some = split + phase * pitch_;
      for (Index k = 0, at = phase; at < out; ++k, at += step_) points[at] = some[k];
    }
  }
}

}  // namespace touchstone::optimized
