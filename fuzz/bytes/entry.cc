// Entry point that libFuzzer calls, compiled for each target.
#include <cstdint>

#include "fuzz/bytes/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  touchstone::bytes::TOUCHSTONE_TARGET(std::as_bytes(std::span(data, size)));
  return 0;
}
