// Handles of the C interface: numbers that are never used twice, so that a released or foreign
// handle is found out and nothing is dereferenced.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "api/fork.h"
#include "core/error.h"

namespace touchstone::api {

// Live objects of one kind, by handle. Thread-safe, and usable in the child of a fork. Must live
// forever, since survive_fork() keeps its mutex.
template <class T>
class Handles {
 public:
  // `what`: the handle's C type, for errors.
  explicit Handles(const char* what) : what_(what) { survive_fork(mutex_); }

  std::uintptr_t add(std::shared_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    const std::uintptr_t handle = next_;
    live_.emplace(handle, std::move(object));
    next_ += 8;  // looks like an aligned pointer
    return handle;
  }

  // Throws Error (usage) for a handle that is not alive.
  std::shared_ptr<T> get(const void* handle) const {
    if (handle == nullptr) throw Error(ErrorKind::usage, std::string("a ") + what_ + " is null");
    const std::lock_guard lock(mutex_);
    const auto found = live_.find(reinterpret_cast<std::uintptr_t>(handle));
    if (found == live_.end())
      throw Error(ErrorKind::usage, std::string("this ") + what_ + " was released, or is none");
    return found->second;
  }

  // Returns the object, which is no longer alive under this handle; null if it was not.
  std::shared_ptr<T> take(const void* handle) noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = live_.find(reinterpret_cast<std::uintptr_t>(handle));
    if (found == live_.end()) return nullptr;
    std::shared_ptr<T> object = std::move(found->second);
    live_.erase(found);
    return object;
  }

 private:
  const char* const what_;
  mutable std::mutex mutex_;
  std::unordered_map<std::uintptr_t, std::shared_ptr<T>> live_;
  std::uintptr_t next_ = 0x1000;
};

template <class C>
C* as_handle(std::uintptr_t number) {
  return reinterpret_cast<C*>(number);
}

}  // namespace touchstone::api
