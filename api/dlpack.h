// Structures of DLPack's stable ABI (dlpack.h, version 0.8), as far as tensors of the processor
// need them.
#pragma once

#include <cstdint>

namespace touchstone::api {

struct DlDevice {
  std::int32_t type;  // 1: the processor
  std::int32_t id;
};

struct DlType {
  std::uint8_t code;  // DlCode
  std::uint8_t bits;
  std::uint16_t lanes;
};

enum DlCode : std::uint8_t {
  dl_int = 0,
  dl_uint = 1,
  dl_float = 2,
  dl_bfloat = 4,
  dl_complex = 5,
  dl_bool = 6
};

struct DlTensor {
  void* data;
  DlDevice device;
  std::int32_t rank;
  DlType type;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null: contiguous
  std::uint64_t byte_offset;
};

struct DlManaged {  // DLManagedTensor
  DlTensor tensor;
  void* context;
  void (*deleter)(DlManaged* self);
};

}  // namespace touchstone::api
