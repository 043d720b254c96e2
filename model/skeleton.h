// A model's file without the large data of its initializers and constants, which is read when its
// tensors stand.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/files.h"

namespace touchstone {

// Bytes of a file that a message would hold.
struct LeftInFile {
  Index offset = 0, length = 0;
};

struct Skeleton {
  // Of an initializer of the main graph, or of a tensor that is an attribute of one of its nodes;
  // each counted in the file's order.
  struct Data {
    int initializer = -1, node = -1, attribute = -1;
    LeftInFile bytes;
  };
  std::string bytes;  // one ModelProto, as the file's but for raw_data
  std::vector<Data> data;
};

// None where the file is so small that nothing is gained, or where it is not plainly one
// ModelProto: then all of it is to be parsed, which says what is wrong. Throws Error (file) if it
// cannot be read.
std::optional<Skeleton> skeleton_of(const OpenFile& file);

}  // namespace touchstone
