// Names of error kinds, and bug(), which reports an unreachable state as an Error so that a session
// survives it.
#include "core/error.h"

namespace touchstone {

std::string_view name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return "usage";
    case ErrorKind::invalid_model:
      return "invalid_model";
    case ErrorKind::invalid_input:
      return "invalid_input";
    case ErrorKind::unsupported:
      return "unsupported";
    case ErrorKind::out_of_memory:
      return "out_of_memory";
    case ErrorKind::limit:
      return "limit";
    case ErrorKind::cancelled:
      return "cancelled";
    case ErrorKind::file:
      return "file";
    case ErrorKind::internal:
      return "internal";
  }
  return "internal";
}

void bug(const char* file, int line, const char* what) {
  throw Error(ErrorKind::internal,
              std::string(what) + " (" + file + ":" + std::to_string(line) + ")")
      .with_help("this is a fault of Touchstone, not of the model: please report it");
}

}  // namespace touchstone
