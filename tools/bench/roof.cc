// Measures peak arithmetic and copy rates. Twelve independent chains of full vectors keep every
// multiply-add unit busy: two units with a latency of four or five need ten. The loop is plain
// arithmetic on compiler vector types. This file is compiled with contraction on, which fuses each
// step into one instruction.
#include "tools/bench/roof.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace touchstone::bench {
namespace {

#if defined(__clang__)  // the sanitized build, whose timings are not used
#define REGISTER(value) "+m"(value)
#elif defined(__x86_64__)
#define REGISTER(value) "+x"(value)
#else
#define REGISTER(value) "+w"(value)
#endif

using Clock = std::chrono::steady_clock;

constexpr Index chains = 12, steps = 100'000, trials = 40, copies = 12;
constexpr Index copied = Index{256} << 20;  // bytes: larger than the largest caches

// Each value converges to factor / (1 - factor), so that nothing overflows or becomes subnormal.
template <class Vector>
[[gnu::always_inline]] inline float turn(float start) {
  constexpr Index lanes = sizeof(Vector) / sizeof(float);
  Vector a0{}, factor{}, sum{};
  for (Index lane = 0; lane < lanes; ++lane) {
    a0[lane] = start + static_cast<float>(lane);
    factor[lane] = 0.5f + start;
  }
  Vector a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0, a6 = a0, a7 = a0, a8 = a0, a9 = a0, a10 = a0,
         a11 = a0;
  for (Index step = 0; step < steps; ++step) {
    a0 = a0 * factor + factor, a1 = a1 * factor + factor, a2 = a2 * factor + factor;
    a3 = a3 * factor + factor, a4 = a4 * factor + factor, a5 = a5 * factor + factor;
    a6 = a6 * factor + factor, a7 = a7 * factor + factor, a8 = a8 * factor + factor;
    a9 = a9 * factor + factor, a10 = a10 * factor + factor, a11 = a11 * factor + factor;
    // Hides the values from the optimizer, which would merge twelve equal chains.
    asm volatile("" : REGISTER(a0), REGISTER(a1), REGISTER(a2), REGISTER(a3), REGISTER(a4));
    asm volatile("" : REGISTER(a5), REGISTER(a6), REGISTER(a7), REGISTER(a8), REGISTER(a9));
    asm volatile("" : REGISTER(a10), REGISTER(a11));
  }
  sum = a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9 + a10 + a11;
  float total = 0;
  for (Index lane = 0; lane < lanes; ++lane) total += sum[lane];
  return total;
}

struct Loop {
  const char* vectors;
  Index lanes;
  float (*turn)(float);
};

typedef float Floats4 __attribute__((vector_size(16)));
float turn_narrow(float start) { return turn<Floats4>(start); }

#if defined(__x86_64__)
typedef float Floats8 __attribute__((vector_size(32)));
typedef float Floats16 __attribute__((vector_size(64)));
[[gnu::target("avx512f")]] float turn_avx512(float start) { return turn<Floats16>(start); }
[[gnu::target("avx2,fma")]] float turn_avx2(float start) { return turn<Floats8>(start); }
#endif

Loop best_loop() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {"avx512f", 16, turn_avx512};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return {"avx2+fma", 8, turn_avx2};
  }
#endif
  return {"128 bits", 4, turn_narrow};
}

// Runs work on all threads at once and returns the time of the slowest.
double seconds_of(Index threads, const std::function<void(Index)>& work) {
  std::barrier start(static_cast<std::ptrdiff_t>(threads));
  std::vector<double> seconds(static_cast<std::size_t>(threads));
  {
    std::vector<std::jthread> running;
    for (Index thread = 0; thread < threads; ++thread) {
      running.emplace_back([&, thread] {
        start.arrive_and_wait();
        const auto began = Clock::now();
        work(thread);
        seconds[static_cast<std::size_t>(thread)] =
            std::chrono::duration<double>(Clock::now() - began).count();
      });
    }
  }
  return *std::max_element(seconds.begin(), seconds.end());
}

double max_flops(Index threads, const Loop& loop) {
  const double operations = 2.0 * static_cast<double>(chains * steps * loop.lanes * threads);
  double most = 0;
  volatile float start = 1e-3f;  // volatile prevents constant folding
  for (Index trial = 0; trial < trials; ++trial) {
    const double seconds = seconds_of(
        threads, [&](Index) { [[maybe_unused]] volatile float kept = loop.turn(start); });
    most = std::max(most, operations / seconds);
  }
  return most;
}

double max_copied(Index threads) {
  const Index share = copied / threads;
  std::unique_ptr<char[]> from(new char[copied]), to(new char[copied]);
  std::memset(from.get(), 1, copied);
  std::memset(to.get(), 2, copied);
  double most = 0;
  for (Index trial = 0; trial < copies; ++trial) {
    const double seconds = seconds_of(threads, [&](Index thread) {
      std::memcpy(to.get() + thread * share, from.get() + thread * share,
                  static_cast<std::size_t>(share));
    });
    most = std::max(most, 2.0 * static_cast<double>(share * threads) / seconds);
  }
  return most;
}

}  // namespace

Roof measure_roof(Index threads) {
  const Loop loop = best_loop();
  return {threads, loop.vectors, max_flops(threads, loop), max_copied(threads)};
}

}  // namespace touchstone::bench
