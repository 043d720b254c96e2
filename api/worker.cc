// Queue and thread of asynchronous runs.
#include "api/worker.h"

#include <utility>

namespace touchstone::api {

Worker::~Worker() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(state_->mutex);
    state_->ended = true;
  }
  state_->changed.notify_all();
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

void Worker::add(std::function<void()> work) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->queue.push_back(std::move(work));
    if (!thread_.joinable()) thread_ = std::thread([state = state_] { loop(*state); });
  }
  state_->changed.notify_one();
}

void Worker::forget() {
  if (thread_.joinable()) thread_.detach();
}

void Worker::loop(State& state) {
  std::unique_lock lock(state.mutex);
  for (;;) {
    state.changed.wait(lock, [&] { return state.ended || !state.queue.empty(); });
    if (state.queue.empty()) return;
    std::function<void()> next = std::move(state.queue.front());
    state.queue.pop_front();
    lock.unlock();
    next();
    next = nullptr;  // may destroy the worker
    lock.lock();
  }
}

}  // namespace touchstone::api
