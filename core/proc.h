// What the kernel says of itself, of a process or of a control group, in files that have no size.
#pragma once

#include <filesystem>
#include <string>

namespace touchstone {

// The whole text of a file in /proc or /sys, whose path is ours. Throws Error (file).
std::string read_proc(const std::filesystem::path& path);

}  // namespace touchstone
