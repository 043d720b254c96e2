// Forks of this process: what a process made before one, its child may have to refuse.
#pragma once

#include <cstdint>

namespace touchstone {

// Number of forks between this process and the one that first called this. Costs a load, where
// getpid() costs a system call.
std::uint32_t forks();

}  // namespace touchstone
