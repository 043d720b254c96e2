// Summary statistics of timings.
#pragma once

#include <span>
#include <vector>

namespace touchstone::bench {

// Returns the value below which this share of the sample is, with linear interpolation (numpy's
// default method). The sample must not be empty.
double percentile(std::vector<double> sample, double share);
double median(std::vector<double> sample);

// The sample must not be empty, and each number must be positive.
double geometric_mean(std::span<const double> sample);

// Returns, for two runtimes that took turns, the ratio of the medians of their two blocks in each
// round. A disturbance longer than a round affects both sides of a ratio.
std::vector<double> ratios(std::span<const std::vector<double>> over,
                           std::span<const std::vector<double>> under);

}  // namespace touchstone::bench
