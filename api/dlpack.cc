// Exchange of tensors through DLPack.
#include "api/dlpack.h"

#include <array>
#include <cstring>

#include "api/status.h"
#include "api/value.h"
#include "core/limits.h"

namespace touchstone::api {
namespace {

struct Pair {
  Type type;
  DlType dl;
};

constexpr std::array pairs{Pair{Type::float32, {dl_float, 32, 1}},
                           Pair{Type::float64, {dl_float, 64, 1}},
                           Pair{Type::float16, {dl_float, 16, 1}},
                           Pair{Type::bfloat16, {dl_bfloat, 16, 1}},
                           Pair{Type::int8, {dl_int, 8, 1}},
                           Pair{Type::int16, {dl_int, 16, 1}},
                           Pair{Type::int32, {dl_int, 32, 1}},
                           Pair{Type::int64, {dl_int, 64, 1}},
                           Pair{Type::uint8, {dl_uint, 8, 1}},
                           Pair{Type::uint16, {dl_uint, 16, 1}},
                           Pair{Type::uint32, {dl_uint, 32, 1}},
                           Pair{Type::uint64, {dl_uint, 64, 1}},
                           Pair{Type::boolean, {dl_bool, 8, 1}},
                           Pair{Type::complex64, {dl_complex, 64, 1}},
                           Pair{Type::complex128, {dl_complex, 128, 1}}};

Type type_of(const DlType& dl) {
  for (const Pair& pair : pairs) {
    if (pair.dl.code == dl.code && pair.dl.bits == dl.bits && dl.lanes == 1) return pair.type;
  }
  throw Error(ErrorKind::unsupported,
              "DLPack's type of code " + std::to_string(dl.code) + ", " + std::to_string(dl.bits) +
                  " bits and " + std::to_string(dl.lanes) + " lanes has no element type here");
}

DlType dl_of(Type type) {
  for (const Pair& pair : pairs) {
    if (pair.type == type) return pair.dl;
  }
  throw Error(ErrorKind::unsupported,
              "DLPack has no type for tensors of " + std::string(name(type)));
}

// Copies dimension `d` and those after it; returns the end of what was written.
std::byte* gather(const DlTensor& from, std::size_t bytes, std::int32_t d, const std::byte* at,
                  std::byte* to) {
  if (d == from.rank) {
    std::memcpy(to, at, bytes);
    return to + bytes;
  }
  const std::ptrdiff_t stride = from.strides[d] * static_cast<std::ptrdiff_t>(bytes);
  for (std::int64_t k = 0; k < from.shape[d]; ++k)
    to = gather(from, bytes, d + 1, at + k * stride, to);
  return to;
}

bool is_contiguous(const DlTensor& tensor) {
  if (!tensor.strides) return true;
  std::int64_t expected = 1;
  for (std::int32_t d = tensor.rank - 1; d >= 0; --d) {
    if (tensor.shape[d] != 1 && tensor.strides[d] != expected) return false;
    expected *= tensor.shape[d];
  }
  return true;
}

struct Exported {
  DlManaged managed{};
  Value value;
  std::vector<std::int64_t> shape;
};

}  // namespace

ts_status* value_from_dlpack(void* managed, ts_value** value) {
  return guarded([&] {
    require(managed, "managed"), require(value, "value");
    auto* given = static_cast<DlManaged*>(managed);
    const DlTensor& tensor = given->tensor;
    if (tensor.device.type != 1)
      throw Error(ErrorKind::unsupported, "the DLPack tensor is on a device, not the processor");
    if (tensor.rank < 0 || tensor.rank > current_limits().rank_run)
      throw Error(ErrorKind::limit,
                  "the DLPack tensor has " + std::to_string(tensor.rank) + " dimensions");
    const Type type = type_of(tensor.type);
    Shape shape;
    for (std::int32_t d = 0; d < tensor.rank; ++d) {
      if (tensor.shape[d] < 0)
        throw Error(ErrorKind::usage, "the DLPack tensor has a size below 0");
      shape.push_back(tensor.shape[d]);
    }
    const Index count = check_size(type, shape, current_limits());
    const auto* data = static_cast<const std::byte*>(tensor.data) + tensor.byte_offset;
    // Copied, since a value is immutable and the exporter may write to its memory.
    Tensor made(type, std::move(shape));
    const auto bytes = static_cast<std::size_t>(facts(type).bits) / 8;
    if (count > 0) {
      require(tensor.data, "managed->dl_tensor.data");
      if (is_contiguous(tensor)) {
        std::memcpy(made.bytes().data(), data, made.bytes().size());
      } else {
        gather(tensor, bytes, 0, data, made.bytes().data());
      }
    }
    *value = handle_of(std::move(made));
    if (given->deleter) given->deleter(given);
  });
}

ts_status* value_to_dlpack(const ts_value* value, void** managed) {
  return guarded([&] {
    require(managed, "managed");
    const std::shared_ptr<HeldValue> held = value_of(value);
    if (!held->value.is_tensor())
      throw Error(ErrorKind::usage, "the value is no tensor, but " + held->type_text);
    auto made = std::make_unique<Exported>();
    made->value = held->value;
    made->shape = held->dims;
    const Tensor& tensor = made->value.tensor();
    DlTensor& to = made->managed.tensor;
    to.type = dl_of(tensor.type());
    to.data = const_cast<std::byte*>(tensor.bytes().data());
    to.device = {1, 0};
    to.rank = static_cast<std::int32_t>(made->shape.size());
    to.shape = made->shape.data();
    made->managed.context = made.get();
    made->managed.deleter = [](DlManaged* self) { delete static_cast<Exported*>(self->context); };
    *managed = &made.release()->managed;
  });
}

}  // namespace touchstone::api
