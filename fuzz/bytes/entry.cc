<<<<<<< HEAD
// The function that libFuzzer calls, compiled for each target.
=======
// Entry point that libFuzzer calls, compiled for each target.
>>>>>>> e354dfacfb7331fa0032b3f9b4a1b1be04824bfb
#include <cstdint>

#include "fuzz/bytes/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  touchstone::bytes::TOUCHSTONE_TARGET(std::as_bytes(std::span(data, size)));
  return 0;
}
