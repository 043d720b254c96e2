// Every part runs once, on whatever thread, and failures come out.
#include "optimized/threads/pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace touchstone {
namespace {

TEST(ThreadPool, EveryPartRunsOnce) {
  for (const Index threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    for (const Index parts : {0, 1, 2, 3, 100}) {
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(parts));
      pool.each(parts, [&](Index part, Index thread) {
        ++runs[static_cast<std::size_t>(part)];
        EXPECT_TRUE(thread >= 0 && thread < threads);
      });
      for (const std::atomic<int>& each : runs) EXPECT_EQ(each, 1);
    }
  }
}

TEST(ThreadPool, AnExceptionComesOutAfterTheOtherPartsAndLeavesThePoolFit) {
  ThreadPool pool(3);
  std::atomic<int> runs{0};
  EXPECT_THROW(pool.each(50,
                         [&](Index part, Index) {
                           if (part == 7) throw std::runtime_error("seven");
                           ++runs;
                         }),
               std::runtime_error);
  EXPECT_EQ(runs, 49);
  pool.each(10, [&](Index, Index) { ++runs; });
  EXPECT_EQ(runs, 59);
}

TEST(ThreadPool, ThereIsAlwaysOneThread) { EXPECT_GE(threads_available(), 1); }

}  // namespace
}  // namespace touchstone
