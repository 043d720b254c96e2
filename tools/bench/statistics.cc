// Order statistics by sorting: samples are hundreds of numbers.
#include "tools/bench/statistics.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace touchstone::bench {

double percentile(std::vector<double> sample, double share) {
  if (sample.empty()) BUG("a percentile of nothing");
  std::sort(sample.begin(), sample.end());
  const double at = share * static_cast<double>(sample.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sample.size() - 1);
  return sample[below] + (at - static_cast<double>(below)) * (sample[above] - sample[below]);
}

double median(std::vector<double> sample) { return percentile(std::move(sample), 0.5); }

double geometric_mean(std::span<const double> sample) {
  if (sample.empty()) BUG("a mean of nothing");
  double sum = 0;
  for (const double one : sample) {
    if (!(one > 0)) BUG("a geometric mean of what is not above zero");
    sum += std::log2(one);
  }
  return std::exp2(sum / static_cast<double>(sample.size()));
}

std::vector<double> ratios(std::span<const std::vector<double>> over,
                           std::span<const std::vector<double>> under) {
  if (over.size() != under.size()) BUG("runtimes that took turns have as many blocks");
  std::vector<double> out;
  for (std::size_t k = 0; k < over.size(); ++k) out.push_back(median(over[k]) / median(under[k]));
  return out;
}

}  // namespace touchstone::bench
