// Factors of Fourier transforms of one length: cosines and sines by pass, and the chirps of
// Bluestein's algorithm, for lengths with a large prime factor.
#pragma once

#include <optional>
#include <vector>

#include "core/budget.h"
#include "core/shape.h"
#include "optimized/kernels/fourier.h"

namespace touchstone::optimized {

// Cosine and sine of `part` n-ths of a turn, exact where they are 0 or 1.
struct Turn {
  double cosine, sine;
};
Turn turn_of(Index part, Index n);

// Numbers of a table, charged to the budget.
class FourierTable {
 public:
  explicit FourierTable(Index numbers);
  double* data() { return numbers_.data(); }
  const double* data() const { return numbers_.data(); }

 private:
  Charge charge_;
  std::vector<double> numbers_;
};

// Passes of a length of prime factors up to max_fourier_radix.
class FourierPasses {
 public:
  static bool takes(Index length);
  explicit FourierPasses(Index length);
  FourierStages stages() const { return {stages_.data(), static_cast<Index>(stages_.size())}; }

 private:
  FourierTable turns_;
  std::vector<FourierStage> stages_;
};

class FourierTransform {
 public:
  FourierTransform(const FourierKernels& kernels, Index length);

  Index length() const { return length_; }
  bool is_exact() const { return !chirps_; }  // sums no products that the definition has not
  Index rows() const { return chirps_ ? padded_ : length_; }  // that data has in memory
  // Transforms `width` series: `filled` rows of the data are set. Returns true if the result is in
  // `spare`. `spare` has the same size.
  struct Data {
    double *re, *im;
  };
  bool run(Data data, Data spare, Index width, Index filled) const;

 private:
  const FourierKernels& kernels_;
  const Index length_, padded_;
  FourierPasses passes_;
  std::optional<FourierTable> chirps_, spectrum_;
};

}  // namespace touchstone::optimized
