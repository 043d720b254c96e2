// A thread that runs queued work in order; it starts with the first work.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace touchstone::api {

class Worker {
 public:
  Worker() : state_(std::make_shared<State>()) {}
  // Waits for the queued work, unless that work itself destroys the worker.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void add(std::function<void()> work);
  // Gives up the thread, which the child of a fork does not have.
  void forget();

 private:
  struct State {  // lives as long as the thread
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::function<void()>> queue;
    bool ended = false;
  };
  static void loop(State& state);

  std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace touchstone::api
