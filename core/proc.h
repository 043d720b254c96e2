// Reads the kernel's pseudo-files on processes and control groups, which report no size.
#pragma once

#include <filesystem>
#include <string>

namespace touchstone {

// Returns the whole text of a file in /proc or /sys. The path must be trusted. Throws Error (file).
std::string read_proc(const std::filesystem::path& path);

}  // namespace touchstone
