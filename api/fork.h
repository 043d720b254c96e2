// Behavior after fork: locks of the interface stay usable in the child.
#pragma once

#include <mutex>

namespace touchstone::api {

// Holds this mutex, which lives forever, while the process forks.
void survive_fork(std::mutex& mutex);

}  // namespace touchstone::api
