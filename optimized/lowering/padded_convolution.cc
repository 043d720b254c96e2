// Slabs of padded images. Where strides are 1, the rows of the padded image are computed as one
// long row; what lies between the rows of the output is thrown away.
#include "optimized/lowering/padded_convolution.h"

#include <algorithm>

#include "core/budget.h"
#include "core/error.h"
#include "optimized/registry/isa.h"
#include "reference/lists.h"

namespace touchstone::optimized {
namespace {

constexpr Index few_filters = 4, most_terms = Index{1} << 16;
constexpr Index slab_floats = Index{1} << 19;  // of the slabs of more than one output slice: L2

// Filters that the kernel takes at once, of those left.
Index group_of(Index left) {
  Index group = most_tap_filters;
  while (group > left) group /= 2;
  return group;
}

TapKernel kernel_of(Isa isa) { return BY_ISA(isa, taps); }

// Calls work(coordinates), the last dimension fastest, for all coordinates below `extents`.
template <class Work>
void each_of(const Shape& extents, const Work& work) {
  if (count(extents) == 0) return;
  IndexVector at(extents.size(), 0);
  for (;;) {
    work(at);
    Index d = extents.size();
    while (d > 0 && ++at[d - 1] == extents[d - 1]) at[--d] = 0;
    if (d == 0) return;
  }
}

}  // namespace

std::optional<PaddedConvolution> PaddedConvolution::of(const Sliding& window, Index channels,
                                                       Index filters, Index scratch) {
  if (filters < 1 || channels < 1 || count(window.out) == 0) return std::nullopt;
  try {
    if (count(window.kernel) == 0 || multiply(channels, count(window.kernel)) > most_terms)
      return std::nullopt;
    PaddedConvolution made(window, channels, filters);
    const Index least = window.image.size() == 1 ? window.out[0] : 1;
    if (made.floats(least) > scratch || !made.pays()) return std::nullopt;
    Index some = least;
    while (some < window.out[0] && made.floats(some + 1) <= min(scratch, slab_floats)) ++some;
    made.slices_ = some;
    return made;
  } catch (const Error&) {
    return std::nullopt;  // overflow
  }
}

PaddedConvolution::PaddedConvolution(const Sliding& s, Index channels, Index filters)
    : window_(s), channels_(channels), filters_(filters), kernel_(kernel_of(chosen_isa())) {
  const Index rank = s.image.size(), inner = rank - 1;
  extents_ = (s.out - 1) * s.stride + (s.kernel - 1) * s.dilation + 1;
  phase_ = ceil_div(extents_[inner], s.stride[inner]);
  extents_[inner] = multiply(phase_, s.stride[inner]);
  pitch_ = dense_strides(extents_);
  flat_ = inner;
  if (s.stride[inner] == 1) {
    while (flat_ > 0 && s.stride[flat_ - 1] == 1) --flat_;
  }
  each_of(s.kernel, [&](const IndexVector& term) {
    const Index along = multiply(term[inner], s.dilation[inner]), step = s.stride[inner];
    Index at = add(multiply(along % step, phase_), along / step);
    for (Index d = 0; d < inner; ++d)
      at = add(at, multiply(multiply(term[d], s.dilation[d]), pitch_[d]));
    place_.push_back(at);
  });
}

Index PaddedConvolution::channel_floats(Index slices) const {
  const Sliding& s = window_;
  if (s.image.size() == 1) return extents_[0];
  const Index rows =
      add(multiply(slices - 1, s.stride[0]), add(multiply(s.kernel[0] - 1, s.dilation[0]), 1));
  return multiply(rows, pitch_[0]);
}

// Floats of a slab: the padded channels, some output channels and the filters.
Index PaddedConvolution::floats(Index slices) const {
  const Index channel = add(channel_floats(slices), tap_slack + 1);
  return add(multiply(channel, add(channels_, group_of(filters_) + 1)),
             multiply(multiply(channels_, place_.size()), filters_));
}

Index PaddedConvolution::slabs() const {
  return window_.image.size() == 1 ? 1 : ceil_div(window_.out[0], slices_);
}

// Compares the sums that are thrown away with the copies of patches, in multiply-adds of a filter.
bool PaddedConvolution::pays() const {
  if (filters_ <= few_filters) return true;
  const Index rank = window_.image.size();
  if (window_.stride[rank - 1] != 1) return false;
  double wasted = 1;
  for (Index d = flat_ + 1; d < rank; ++d)
    wasted *= static_cast<double>(extents_[d]) / static_cast<double>(window_.out[d]);
  constexpr double copy = 25, slower = 1.06;  // measured beside the matmul of patches
  return static_cast<double>(filters_) * (slower * wasted - 1) < copy;
}

void PaddedConvolution::copy_row(const float* from, float* to) const {
  const Index inner = window_.image.size() - 1, step = window_.stride[inner];
  const Index before = window_.before[inner], width = window_.image[inner];
  for (Index phase = 0; phase < step; ++phase, to += phase_) {
    // Element k is column phase + k * step - before of the image.
    const Index low = clamp(ceil_div(before - phase, step), 0, phase_);
    const Index high = clamp(ceil_div(width + before - phase, step), low, phase_);
    std::fill_n(to, low, 0.0F);
    const float* const first = from + (phase - before + low * step);
    if (step == 1) {
      std::copy_n(first, high - low, to + low);
    } else {
      for (Index k = low; k < high; ++k) to[k] = first[(k - low) * step];
    }
    std::fill(to + high, to + phase_, 0.0F);
  }
}

// Copies the part of one channel that output slices from `first` on read.
void PaddedConvolution::copy(const float* x, Index first, Index slices, float* to) const {
  const Sliding& s = window_;
  const Index inner = s.image.size() - 1;
  Shape rows = head(extents_, inner);
  if (inner > 0) rows[0] = (slices - 1) * s.stride[0] + (s.kernel[0] - 1) * s.dilation[0] + 1;
  const IndexVector image = dense_strides(s.image);
  each_of(rows, [&](const IndexVector& row) {
    Index at = 0;
    bool in = true;
    for (Index d = 0; d < inner; ++d) {
      const Index place = row[d] - s.before[d] + (d == 0 ? first * s.stride[0] : 0);
      in = in && place >= 0 && place < s.image[d];
      at += place * image[d];
    }
    if (in) {
      copy_row(x + at, to);
    } else {
      std::fill_n(to, extents_[inner], 0.0F);
    }
    to += extents_[inner];
  });
}

// Copies the rows of one output channel out of the padded ones.
void PaddedConvolution::copy_out(const float* from, Index first, Index slices, float* y) const {
  const Sliding& s = window_;
  const Index inner = s.image.size() - 1;
  Shape rows = head(s.out, inner);
  if (inner > 0) rows[0] = slices;
  float* to = y + (inner > 0 ? first * count(tail(s.out, 1)) : 0);
  each_of(rows, [&](const IndexVector& row) {
    Index at = 0;
    for (Index d = 0; d < inner; ++d) at += row[d] * pitch_[d];
    to = std::copy_n(from + at, s.out[inner], to);
  });
}

void PaddedConvolution::pack(const float* w, float* packed) const {
  const Index taps = channels_ * place_.size();
  for (Index filter = 0; filter < filters_;) {
    const Index group = group_of(filters_ - filter);
    for (Index f = 0; f < group; ++f) {
      for (Index t = 0; t < taps; ++t) packed[t * group + f] = w[(filter + f) * taps + t];
    }
    packed += group * taps;
    filter += group;
  }
}

void PaddedConvolution::run(Index slab, const float* x, const float* w, const float* bias, float* y,
                            float* scratch) const {
  const Sliding& s = window_;
  const Index rank = s.image.size(), terms = place_.size(), taps = channels_ * terms;
  const Index plane = count(s.image), points = count(s.out);
  const Index first = rank == 1 ? 0 : slab * slices_;
  const Index slices = rank == 1 ? 1 : std::min(slices_, s.out[0] - first);
  const Index channel = channel_floats(slices), row = channel + tap_slack + 1;
  std::vector<Index> offsets(static_cast<std::size_t>(taps));
  for (Index c = 0; c < channels_; ++c) {
    copy(x + c * plane, first, slices, scratch + c * channel);
    for (Index t = 0; t < terms; ++t)
      offsets[static_cast<std::size_t>(c * terms + t)] = c * channel + place_[t];
  }
  float* const made = scratch + channels_ * channel + tap_slack + 1;
  float* const packed = made + group_of(filters_) * row;
  pack(w, packed);
  // Outputs of the outer dimensions one by one, of the others at once.
  Shape outer = head(s.out, flat_);
  if (rank > 1 && flat_ > 0) outer[0] = slices;
  Index together = 1;
  for (Index d = flat_; d < rank; ++d)
    together += ((d == 0 && rank > 1 ? slices : s.out[d]) - 1) * (d + 1 == rank ? 1 : pitch_[d]);
  for (Index filter = 0; filter < filters_;) {
    check_budget();
    const Index group = group_of(filters_ - filter);
    each_of(outer, [&](const IndexVector& at) {
      Index from = 0, to = 0;
      for (Index d = 0; d < flat_; ++d) {
        from += at[d] * s.stride[d] * pitch_[d];
        to += at[d] * pitch_[d];
      }
      kernel_({scratch + from, offsets.data(), packed + filter * taps, taps, group,
               bias ? bias + filter : nullptr, made + to, row, together});
    });
    for (Index f = 0; f < group; ++f)
      copy_out(made + f * row, first, slices, y + (filter + f) * points);
    filter += group;
  }
}

}  // namespace touchstone::optimized
