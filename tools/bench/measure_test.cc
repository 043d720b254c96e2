// Tests the order of turns, and the memory that a load finds.
#include "tools/bench/measure.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/proc.h"
#include "tools/bench/ready.h"

namespace touchstone::bench {
namespace {

using Order = std::vector<std::size_t>;

TEST(Turns, TwoChangePlaces) {
  EXPECT_EQ(turns(0, 2), (Order{0, 1}));
  EXPECT_EQ(turns(1, 2), (Order{1, 0}));
  EXPECT_EQ(turns(2, 2), (Order{0, 1}));
  EXPECT_EQ(turns(5, 1), Order{0});
}

TEST(Turns, EachIsThereOnceAndBeginsAsOftenAsTheOthers) {
  for (std::size_t runtimes = 1; runtimes <= 5; ++runtimes) {
    std::map<std::size_t, int> begins;
    for (Index round = 0; round < static_cast<Index>(2 * runtimes); ++round) {
      const Order order = turns(round, runtimes);
      EXPECT_EQ(order.size(), runtimes);
      EXPECT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), runtimes);
      EXPECT_LT(*std::max_element(order.begin(), order.end()), runtimes);
      ++begins[order.front()];
    }
    for (const auto& [runtime, times] : begins) EXPECT_EQ(times, 2) << runtime;
    EXPECT_EQ(begins.size(), runtimes);
  }
}

TEST(Turns, NobodyAlwaysFollowsTheSameNeighbour) {
  for (std::size_t runtimes = 3; runtimes <= 5; ++runtimes) {
    std::map<std::size_t, std::set<std::size_t>> before;
    for (Index round = 0; round < static_cast<Index>(2 * runtimes); ++round) {
      const Order order = turns(round, runtimes);
      for (std::size_t k = 1; k < runtimes; ++k) before[order[k]].insert(order[k - 1]);
    }
    for (const auto& [runtime, neighbours] : before) EXPECT_GT(neighbours.size(), 1) << runtime;
  }
}

// Returns the resident bytes of this process.
Index resident() {
  const std::string text = read_proc("/proc/self/statm");
  return std::stoll(text.substr(text.find(' '))) * ::sysconf(_SC_PAGESIZE);
}

TEST(ReadyMemory, IsHeldUntilItIsGivenBack) {
  constexpr Index bytes = Index{96} << 20, most = bytes / 8;
  ReadyMemory ready(bytes);
  const Index before = resident();
  for (int times = 0; times < 2; ++times) {
    ready.take();
    ready.take();
    const Index held = resident() - before;
    EXPECT_GE(held, bytes - most);
    EXPECT_LE(held, bytes + most);
    ready.give_back();
    ready.give_back();
    EXPECT_LE(resident() - before, most);
  }
}

}  // namespace
}  // namespace touchstone::bench
