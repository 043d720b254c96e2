// Tests that a forked child is refused a lock that it could wait for forever, and that RunLock is a
// mutex within one process.
#include "optimized/threads/run_lock.h"

#include <gtest/gtest.h>

#include <sys/wait.h>

#include <mutex>
#include <thread>
#include <vector>

namespace touchstone::optimized {
namespace {

enum Ended { ran = 0, refused = 3, otherwise = 4 };

// Returns the exit status of a child that takes the lock.
int taken_in_child(RunLock& lock) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // in case it waits forever
    try {
      const std::lock_guard held(lock);
      _exit(ran);
    } catch (const Error& error) {
      _exit(error.kind == ErrorKind::usage ? refused : otherwise);
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(RunLock, AChildRunsWhereNobodyDidAsItWasMade) {
  RunLock lock;
  { const std::lock_guard held(lock); }
  EXPECT_EQ(taken_in_child(lock), ran);
}

TEST(RunLock, AChildIsRefusedWhatAnotherThreadHeld) {
  RunLock lock;
  std::atomic<bool> holds{false}, ends{false};
  std::thread other([&] {
    const std::lock_guard held(lock);
    holds = true;
    holds.notify_all();
    ends.wait(false);
  });
  holds.wait(false);
  EXPECT_EQ(taken_in_child(lock), refused);
  ends = true;
  ends.notify_all();
  other.join();
  const std::lock_guard held(lock);  // released again in this process
}

TEST(RunLock, ThreadsOfOneProcessWait) {
  RunLock lock;
  int sum = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int k = 0; k < 10'000; ++k) {
        const std::lock_guard held(lock);
        ++sum;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sum, 40'000);
}

}  // namespace
}  // namespace touchstone::optimized
