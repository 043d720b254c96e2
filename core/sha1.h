// SHA1, the standard's checksum of external data files. It detects damage, not forgery.
#pragma once

#include <string>

#include "core/files.h"

namespace touchstone {

// Returns the digest of a whole file: 40 hexadecimal digits, lower case.
std::string sha1(const OpenFile& file);

}  // namespace touchstone
