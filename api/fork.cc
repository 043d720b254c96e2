// Handlers of fork. They lock every registered mutex, so that the child inherits none in use.
#include "api/fork.h"

#include <pthread.h>

#include <atomic>
#include <vector>

namespace touchstone::api {
namespace {

std::atomic<std::uint32_t> generation{0};

struct Guarded {
  std::mutex own;
  std::vector<std::mutex*> all;
};

Guarded& guarded() {
  static Guarded& one = *new Guarded;
  return one;
}

void before() {
  guarded().own.lock();
  for (std::mutex* mutex : guarded().all) mutex->lock();
}

void release_all() {
  for (auto at = guarded().all.rbegin(); at != guarded().all.rend(); ++at) (*at)->unlock();
  guarded().own.unlock();
}

void in_child() {
  release_all();
  generation.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

void survive_fork(std::mutex& mutex) {
  const std::lock_guard lock(guarded().own);
  static const int registered = pthread_atfork(before, release_all, in_child);
  (void)registered;
  guarded().all.push_back(&mutex);
}

std::uint32_t forks() { return generation.load(std::memory_order_relaxed); }

}  // namespace touchstone::api
