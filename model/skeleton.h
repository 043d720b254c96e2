// Strips the large raw_data of initializers and constants from a model's file before parsing. The
// data is read later, directly into its tensors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/files.h"

namespace touchstone {

// Byte range of raw_data in the file.
struct LeftInFile {
  Index offset = 0, length = 0;
};

struct Skeleton {
  // Owner of the data: an initializer of the main graph, or a tensor attribute of one of its nodes.
  // Positions count in file order; -1 if unused.
  struct Data {
    int initializer = -1, node = -1, attribute = -1;
    LeftInFile bytes;
  };
  std::string bytes;  // one ModelProto: the file's without raw_data
  std::vector<Data> data;
};

// Returns nothing if the file is too small to pay off, or is not plainly one ModelProto. All of it
// is then parsed, which reports the fault. Throws Error (file) if it cannot be read.
std::optional<Skeleton> skeleton_of(const OpenFile& file);

}  // namespace touchstone
