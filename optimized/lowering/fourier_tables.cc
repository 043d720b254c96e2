// Makes the tables of Fourier transforms, and runs transforms of any length with them.
#include "optimized/lowering/fourier_tables.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/checked.h"
#include "reference/lists.h"

namespace touchstone::optimized {
namespace {

// Radices in the order of the passes: odd ones first, so that half and quarter turns stay exact.
// Empty if a prime factor is too large, or for one element.
std::vector<Index> radices_of(Index length) {
  std::vector<Index> radices;
  for (Index radix = max_fourier_radix; radix > 5; radix -= 2) {
    const bool prime = radix % 3 != 0 && radix % 5 != 0 && (radix % 7 != 0 || radix == 7) &&
                       (radix % 11 != 0 || radix == 11);
    for (; prime && length % radix == 0; length /= radix) radices.push_back(radix);
  }
  for (const Index radix : {5, 3, 4, 2}) {
    for (; length % radix == 0; length /= radix) radices.push_back(radix);
  }
  if (length != 1) radices.clear();
  return radices;
}

// Numbers of all factors and roots.
Index numbers_of(Index length) {
  Index numbers = 0;
  for (const Index radix : radices_of(length)) {
    numbers = add(numbers, multiply(2, add(multiply(length / radix, radix - 1), radix)));
    length /= radix;
  }
  return numbers;
}

// The least power of two for which a convolution of the series with chirps does not wrap round.
Index padded_length(Index length) {
  if (FourierPasses::takes(length)) return length;
  Index padded = 1;
  while (padded < subtract(multiply(2, length), 1)) padded = multiply(2, padded);
  return padded;
}

}  // namespace

Turn turn_of(Index part, Index n) {
  const Index quarters = multiply(4, mod(part, n)), quarter = quarters / n;
  const Index rest = quarters - quarter * n;  // n-ths of a quarter
  const auto angle = [&](Index of) {
    return std::numbers::pi / 2 * static_cast<double>(of) / static_cast<double>(n);
  };
  double cosine = 1, sine = 0;
  if (2 * rest <= n) {
    cosine = rest == 0 ? 1 : std::cos(angle(rest));
    sine = std::sin(angle(rest));
  } else {
    cosine = std::sin(angle(n - rest));
    sine = std::cos(angle(n - rest));
  }
  switch (quarter) {
    case 0:
      return {cosine, sine};
    case 1:
      return {-sine, cosine};
    case 2:
      return {-cosine, -sine};
    default:
      return {sine, -cosine};
  }
}

FourierTable::FourierTable(Index numbers)
    : charge_(multiply(numbers, Index{sizeof(double)})),
      numbers_(static_cast<std::size_t>(numbers)) {}

bool FourierPasses::takes(Index length) { return length == 1 || !radices_of(length).empty(); }

FourierPasses::FourierPasses(Index length) : turns_(numbers_of(length)) {
  double* turns = turns_.data();
  Index before = 1;
  for (const Index radix : radices_of(length)) {
    const double* const roots = turns;
    for (Index j = 0; j < radix; ++j) {
      const Turn root = turn_of(j, radix);
      *turns++ = root.cosine;
      *turns++ = root.sine;
    }
    stages_.push_back({radix, length, before, turns, roots});
    for (Index p = 0; p < length / radix; ++p) {
      for (Index j = 1; j < radix; ++j) {
        const Turn turn = turn_of(p * j, length);
        *turns++ = turn.cosine;
        *turns++ = -turn.sine;
      }
    }
    length /= radix;
    before *= radix;
  }
}

FourierTransform::FourierTransform(const FourierKernels& kernels, Index length)
    : kernels_(kernels), length_(length), padded_(padded_length(length)), passes_(padded_) {
  if (padded_ == length_) return;
  // 2 k t = k^2 + t^2 - (k - t)^2: a transform is a convolution with chirps.
  chirps_.emplace(multiply(2, length_));
  spectrum_.emplace(multiply(2, padded_));
  FourierTable lags(multiply(4, padded_));
  const Data data{lags.data(), lags.data() + padded_},
      spare{data.im + padded_, data.im + 2 * padded_};
  const auto scale = static_cast<double>(padded_);
  for (Index t = 0; t < length_; ++t) {
    const Index twice = multiply(2, length_);
    const Turn turn = turn_of(mod(multiply(t, t), twice), twice);
    chirps_->data()[2 * t] = turn.cosine;
    chirps_->data()[2 * t + 1] = -turn.sine;
    const Index mirrored = t == 0 ? 0 : padded_ - t;
    data.re[t] = data.re[mirrored] = turn.cosine / scale;
    data.im[t] = data.im[mirrored] = turn.sine / scale;
  }
  const bool in_spare =
      kernels_.transform(passes_.stages(), 1, data.re, data.im, spare.re, spare.im);
  const Data made = in_spare ? spare : data;
  for (Index k = 0; k < padded_; ++k) {
    spectrum_->data()[2 * k] = made.re[k];
    spectrum_->data()[2 * k + 1] = made.im[k];
  }
}

bool FourierTransform::run(Data data, Data spare, Index width, Index filled) const {
  const Index unset = (rows() - filled) * width;
  std::fill_n(data.re + filled * width, unset, 0.0);
  std::fill_n(data.im + filled * width, unset, 0.0);
  if (!chirps_)
    return kernels_.transform(passes_.stages(), width, data.re, data.im, spare.re, spare.im);
  kernels_.multiply(chirps_->data(), filled, width, data.re, data.im);
  const bool there =
      kernels_.transform(passes_.stages(), width, data.re, data.im, spare.re, spare.im);
  const Data &from = there ? spare : data, &to = there ? data : spare;
  kernels_.multiply(spectrum_->data(), padded_, width, from.re, from.im);
  // With its parts exchanged, a transform is the inverse one.
  const bool moved = kernels_.transform(passes_.stages(), width, from.im, from.re, to.im, to.re);
  const Data& made = moved ? to : from;
  kernels_.multiply(chirps_->data(), length_, width, made.re, made.im);
  return made.re == spare.re;
}

}  // namespace touchstone::optimized
