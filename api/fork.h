// Behavior after fork: locks of the interface stay usable in the child, and a session, whose
// threads the child lacks, is refused there.
#pragma once

#include <cstdint>
#include <mutex>

namespace touchstone::api {

// Holds this mutex, which lives forever, while the process forks.
void survive_fork(std::mutex& mutex);

// Number of forks between this process and the one that loaded the library.
std::uint32_t forks();

}  // namespace touchstone::api
