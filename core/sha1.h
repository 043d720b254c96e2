// SHA1, which the standard takes for checksums of files: it finds what was damaged, not what was
// forged.
#pragma once

#include <string>

#include "core/files.h"

namespace touchstone {

// The digest of a whole file: 40 digits, lower case.
std::string sha1(const OpenFile& file);

}  // namespace touchstone
