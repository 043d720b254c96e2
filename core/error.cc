// What cannot be is still reported as an Error, so that a session outlives a fault of ours.
#include "core/error.h"

namespace touchstone {

void bug(const char* file, int line, const char* what) {
  throw Error(ErrorKind::internal,
              std::string(what) + " (" + file + ":" + std::to_string(line) + ")")
      .with_help("this is a fault of Touchstone, not of the model: please report it");
}

}  // namespace touchstone
