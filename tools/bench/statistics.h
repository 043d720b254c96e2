// Numbers that sum up many timings.
#pragma once

#include <span>
#include <vector>

namespace touchstone {

// The value below which this share of the sample lies, linear between neighbours (numpy's default
// way). The sample must not be empty.
double percentile(std::vector<double> sample, double share);
double median(std::vector<double> sample);

// The sample must not be empty, and each number above zero.
double geometric_mean(std::span<const double> sample);

// Of two runtimes that took turns: the ratio in each round, of the medians of the two blocks. What
// disturbs the machine for longer than a round disturbs both sides of a ratio.
std::vector<double> ratios(std::span<const std::vector<double>> over,
                           std::span<const std::vector<double>> under);

}  // namespace touchstone
