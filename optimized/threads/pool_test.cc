// Tests that every part runs once, on any thread, and that exceptions reach the caller.
#include "optimized/threads/pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/budget.h"
#include "core/error.h"

namespace touchstone::optimized {
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

// More parts than a share's word can count, and rounds in quick succession, with sleeping and with
// spinning threads.
TEST(ThreadPool, ManyPartsAndManyRounds) {
  ThreadPool pool(3);
  constexpr Index many = 3 * 65535 + 5;
  std::vector<std::atomic<std::uint8_t>> runs(many);
  pool.each(many, [&](Index part, Index) { ++runs[static_cast<std::size_t>(part)]; });
  EXPECT_TRUE(std::all_of(runs.begin(), runs.end(), [](const auto& each) { return each == 1; }));
  for (const std::optional<bool> wakes : {std::optional<bool>(), {false}, {true}}) {
    std::optional<ThreadPool::Run> run;
    if (wakes) run.emplace(pool, *wakes);
    Index sum = 0, expected = 0;
    for (Index round = 1; round <= 2000; ++round) {
      std::array<std::atomic<Index>, 7> made{};
      const Index parts = round % 7 + 1;
      pool.each(parts, [&](Index part, Index) { made[static_cast<std::size_t>(part)] = round; });
      for (const std::atomic<Index>& each : made) sum += each;
      expected += parts * round;
    }
    EXPECT_EQ(sum, expected);
  }
}

TEST(ThreadPool, ThereIsAlwaysOneThread) { EXPECT_GE(threads_available(), 1); }

// The caller's budget pays for all parts.
TEST(ThreadPool, PartsAreOfTheCallersBudget) {
  for (const Index threads : {1, 3}) {
    ThreadPool pool(threads);
    Limits limits;
    limits.work = 1000;
    std::atomic<bool> stop{false};
    const Budget budget(limits, Cancel{.flag = &stop});
    pool.each(10, [](Index, Index) { charge_work(100); });
    EXPECT_EQ(budget.work(), 1000);
    pool.each(4, [](Index, Index) {});
    EXPECT_THROW(pool.each(4, [](Index, Index) { charge_work(1); }), Error);
    stop = true;
    std::atomic<int> runs{0};
    try {
      pool.each(4, [&](Index, Index) { ++runs; });
      ADD_FAILURE() << "a cancelled budget begins a part";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind, ErrorKind::cancelled);
    }
    EXPECT_EQ(runs, 0);
  }
}

TEST(ThreadPool, WithoutHelpTheCallerDoesAllParts) {
  ThreadPool pool(3, false);
  EXPECT_EQ(pool.size(), 3);
  std::vector<int> runs(7);
  pool.each(7, [&](Index part, Index thread) {
    ++runs[static_cast<std::size_t>(part)];
    EXPECT_EQ(thread, 0);
  });
  EXPECT_EQ(runs, std::vector<int>(7, 1));
}

// A thread may wake for the last work while the pool ends.
TEST(ThreadPool, EndsWhileItsThreadsWake) {
  std::atomic<Index> done{0};
  for (int k = 0; k < 2000; ++k) {
    ThreadPool pool(4);
    pool.each(8, [&](Index, Index) { ++done; });
  }
  EXPECT_EQ(done, 2000 * 8);
}

using Task = void (*)(void*, std::size_t);

// Executors: with a thread for each task; one that runs nothing; one that runs each task twice.
void in_threads(void*, std::size_t count, Task task, void* context) {
  std::vector<std::thread> threads;
  for (std::size_t k = 0; k < count; ++k) threads.emplace_back(task, context, k);
  for (std::thread& thread : threads) thread.join();
}
void nowhere(void*, std::size_t, Task, void*) {}
void twice(void* user, std::size_t count, Task task, void* context) {
  in_threads(user, count, task, context);
  in_threads(user, count, task, context);
}

TEST(ThreadPool, AnExecutorRunsTheParts) {
  for (const auto& run : {in_threads, nowhere, twice}) {
    ThreadPool pool(4, true, {run, nullptr});
    EXPECT_EQ(pool.size(), 4);
    for (const Index parts : {0, 1, 2, 100}) {
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(parts));
      std::array<std::atomic<int>, 4> busy{};
      pool.each(parts, [&](Index part, Index thread) {
        EXPECT_EQ(++busy.at(static_cast<std::size_t>(thread)), 1) << "one number for two threads";
        ++runs[static_cast<std::size_t>(part)];
        --busy.at(static_cast<std::size_t>(thread));
      });
      for (const std::atomic<int>& each : runs) EXPECT_EQ(each, 1);
    }
    EXPECT_THROW(pool.each(9,
                           [](Index part, Index) {
                             if (part == 5) throw std::runtime_error("part 5");
                           }),
                 std::runtime_error);
  }
}

}  // namespace
}  // namespace touchstone::optimized
