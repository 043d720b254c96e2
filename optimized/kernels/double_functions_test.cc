// Tests the documented errors of the float64 functions against long double, whose units are 2^-11
// of theirs. All instruction sets must give the same bits.
#include "optimized/kernels/double_functions.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "optimized/kernels/testing.h"

namespace touchstone::optimized {
namespace {

using Numbers = std::vector<double>;
constexpr double infinity = std::numeric_limits<double>::infinity();

struct Tested {
  const char* name;
  DoubleFunction DoubleFunctionKernels::*function;
  long double (*exact)(long double);
  double units;  // largest error, in units of the last place
};
const Tested all_tested[] = {{"exp", &DoubleFunctionKernels::exp, std::exp, 0.9},
                             {"tanh", &DoubleFunctionKernels::tanh, std::tanh, 1.9},
                             {"sigmoid", &DoubleFunctionKernels::sigmoid,
                              [](long double x) { return 1 / (1 + std::exp(-x)); }, 2.5},
                             {"sqrt", &DoubleFunctionKernels::sqrt, std::sqrt, 0.5}};

Numbers computed(const Tested& tested, Isa isa, const Numbers& x) {
  Numbers y(x.size());
  (double_functions_of(isa).*tested.function)(x.data(), y.data(),
                                              static_cast<std::int64_t>(x.size()));
  return y;
}

// Numbers of each size: a count that leaves a part of a vector, and special values at its end.
Numbers arguments() {
  std::mt19937_64 random(7);
  Numbers all;
  for (const double size : {1e-300, 1e-9, 0.7, 1.3, 5.0, 40.0, 300.0, 745.0, 1e6}) {
    std::uniform_real_distribution<double> drawn(-size, size);
    for (int k = 0; k < 20'001; ++k) all.push_back(drawn(random));
  }
  for (const double x : {0.0, 5e-324, 0x1p-1022, 0.625, 22.0, 709.782712893384, 709.8, 745.1332,
                         745.134, 1e308, infinity, std::nan("")})
    all.insert(all.end(), {x, -x});
  return all;
}

// Size of the unit of the last place of a float64 near a number.
long double unit_at(long double number) {
  constexpr int smallest = -1074;
  int exponent = 0;
  std::frexp(number, &exponent);
  return std::ldexp(1.0L, std::max(exponent - std::numeric_limits<double>::digits, smallest));
}

void expect_near(const Tested& tested, double x, double y) {
  const long double exact = tested.exact(x);
  if (std::isnan(exact)) {
    EXPECT_TRUE(std::isnan(y)) << tested.name << " of " << x << " is " << y;
  } else if (std::fabs(exact) > std::numeric_limits<double>::max()) {
    EXPECT_TRUE(std::isinf(y) && (y > 0) == (exact > 0)) << tested.name << " of " << x;
  } else {
    // A subnormal result is rounded once more.
    const double allowed = tested.units + (std::fabs(y) < 0x1p-1022 ? 0.5 : 0.0) + 0x1p-10;
    EXPECT_LE(std::fabs(exact - static_cast<long double>(y)) / unit_at(exact), allowed)
        << tested.name << " of " << x << " is " << y;
    EXPECT_TRUE(y != 0 || std::signbit(y) == std::signbit(exact)) << tested.name << " of " << x;
  }
}

TEST(DoubleFunctions, ErrorsAreAsDocumented) {
  const Numbers x = arguments();
  for (const Tested& tested : all_tested) {
    const Numbers y = computed(tested, Isa::sse41, x);
    for (std::size_t k = 0; k < x.size(); ++k) expect_near(tested, x[k], y[k]);
  }
}

TEST(DoubleFunctions, InstructionSetsGiveTheSameBits) {
  const Numbers x = arguments();
  for (const Tested& tested : all_tested) {
    const Numbers expected = computed(tested, Isa::sse41, x);
    for (const Isa isa : testing::present_isas()) {
      const Numbers made = computed(tested, isa, x);
      for (std::size_t k = 0; k < x.size(); ++k) {
        const bool same = std::isnan(made[k]) ? std::isnan(expected[k])
                                              : std::memcmp(&made[k], &expected[k], 8) == 0;
        EXPECT_TRUE(same) << tested.name << " of " << x[k] << " with " << name(isa);
      }
    }
  }
}

TEST(DoubleFunctions, WorkInPlaceAndOnAnyCount) {
  const Numbers x{0.5, -1, 2, -3, 4, -5, 6, -7, 8};
  for (const Tested& tested : all_tested) {
    const Numbers expected = computed(tested, Isa::sse41, x);
    for (std::size_t count = 0; count <= x.size(); ++count) {
      Numbers y(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(count));
      (double_functions_sse41.*tested.function)(y.data(), y.data(),
                                                static_cast<std::int64_t>(count));
      for (std::size_t k = 0; k < count; ++k) {
        EXPECT_TRUE(y[k] == expected[k] || std::isnan(expected[k])) << tested.name;
      }
    }
  }
}

}  // namespace
}  // namespace touchstone::optimized
