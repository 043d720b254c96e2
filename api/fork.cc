// Handlers of fork. They lock every registered mutex, so that the child inherits none in use.
#include "api/fork.h"

#include <pthread.h>

#include <vector>

namespace touchstone::api {
namespace {

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

}  // namespace

void survive_fork(std::mutex& mutex) {
  const std::lock_guard lock(guarded().own);
  static const int registered = pthread_atfork(before, release_all, release_all);
  (void)registered;
  guarded().all.push_back(&mutex);
}

}  // namespace touchstone::api
