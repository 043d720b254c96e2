// Reads tensors from a file. Type, shape and data must agree to the byte before anything is
// allocated, so a file of a few bytes cannot request gigabytes. Bools other than 0 and 1 are
// refused, so kernels never see them.
#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "model/proto.h"
#include "model/rules.h"

namespace touchstone {
namespace {

static_assert(std::endian::native == std::endian::little, "raw_data is little-endian");

enum class Field { none, raw, floats, int32s, strings, int64s, doubles, uint64s };

Field field_in_use(const pb::TensorProto& proto, const LeftInFile& left) {
  Field used = Field::none;
  const auto offer = [&](Field field, std::size_t entries) {
    if (entries == 0) return;
    if (used != Field::none) throw breach("model/tensor-data", "more than one field holds data");
    used = field;
  };
  offer(Field::raw, proto.raw_data().size() + static_cast<std::size_t>(left.length));
  offer(Field::floats, proto.float_data_size());
  offer(Field::int32s, proto.int32_data_size());
  offer(Field::strings, proto.string_data_size());
  offer(Field::int64s, proto.int64_data_size());
  offer(Field::doubles, proto.double_data_size());
  offer(Field::uint64s, proto.uint64_data_size());
  return used;
}

Field home_of(Type type) {
  switch (type) {
    case Type::float32:
    case Type::complex64:
      return Field::floats;
    case Type::float64:
    case Type::complex128:
      return Field::doubles;
    case Type::int64:
      return Field::int64s;
    case Type::uint32:
    case Type::uint64:
      return Field::uint64s;
    case Type::string:
      return Field::strings;
    default:
      return Field::int32s;
  }
}

void need_entries(const char* field, Index needed, Index found) {
  if (needed == found) return;
  throw breach("model/tensor-data", std::string(field) + " needs " + std::to_string(needed) +
                                        " entries, but has " + std::to_string(found));
}

template <class Held, class Entries>
void copy_entries(const char* field, const Entries& entries, Index needed, Tensor& tensor) {
  Held* to = tensor.data<Held>();
  for (Index i = 0; i < needed; ++i) {
    const auto entry = entries[static_cast<int>(i)];
    to[i] = static_cast<Held>(entry);
    if constexpr (std::is_integral_v<Held>) {
      if (std::in_range<Held>(entry)) continue;
      throw breach("model/tensor-data", std::string(field) + "[" + std::to_string(i) + "] is " +
                                            std::to_string(entry) +
                                            ", which the type does not hold");
    }
  }
}

// Copies entries that each hold a byte of packed elements: two of 4 bits, four of 2 bits.
template <class Entries>
void copy_codes(const Entries& entries, Index most, std::span<std::uint8_t> codes,
                Index least = 0) {
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const std::int32_t entry = entries[static_cast<int>(i)];
    if (entry < least || entry > most) {
      throw breach("model/tensor-data",
                   "int32_data[" + std::to_string(i) + "] is " + std::to_string(entry) +
                       ", but the codes of this type end at " + std::to_string(most));
    }
    codes[i] = static_cast<std::uint8_t>(entry);
  }
}

Index int32_entries(Type type, Index size) {
  const int bits = facts(type).bits;
  return bits < 8 && bits != 6 ? packed_bytes(type, size) : size;  // 6 bits: one element per entry
}

void copy_int32s(const pb::TensorProto& proto, Tensor& tensor) {
  const auto& entries = proto.int32_data();
  const Index size = tensor.size();
  const TypeFacts& type = facts(tensor.type());
  const auto bytes = [&] {
    const std::span<std::byte> held = tensor.bytes();
    return std::span(static_cast<std::uint8_t*>(static_cast<void*>(held.data())), held.size());
  };
  if (type.bits == 6) {
    std::vector<std::uint8_t> codes(static_cast<std::size_t>(size));
    copy_codes(entries, 63, codes);
    pack(codes, tensor);
  } else if (type.bits < 8) {
    copy_codes(entries, 255, bytes(),
               // A byte of signed elements may be written signed.
               type.is_signed && type.is_integer ? -128 : 0);
  } else if (tensor.type() == Type::boolean) {
    copy_codes(entries, 1, bytes());
  } else if (type.bits == 8) {
    if (type.is_signed && type.is_integer)
      return copy_entries<std::int8_t>("int32_data", entries, size, tensor);
    copy_codes(entries, 255, bytes());
  } else if (type.bits == 16) {
    if (tensor.type() == Type::int16)
      return copy_entries<std::int16_t>("int32_data", entries, size, tensor);
    copy_entries<std::uint16_t>("int32_data", entries, size, tensor);
  } else {
    copy_entries<std::int32_t>("int32_data", entries, size, tensor);
  }
}

// Checks that bools are 0 or 1, and clears the bits after the last packed element, so that equal
// tensors have equal bytes.
void settle(Tensor& tensor) {
  const std::span<std::byte> bytes = tensor.bytes();
  if (tensor.type() == Type::boolean) {
    const auto odd =
        std::find_if(bytes.begin(), bytes.end(), [](std::byte b) { return b > std::byte{1}; });
    if (odd == bytes.end()) return;
    throw breach("model/tensor-data", "element " + std::to_string(odd - bytes.begin()) +
                                          " of a bool is " +
                                          std::to_string(static_cast<int>(*odd)));
  }
  if (!is_packed(tensor.type()) || bytes.empty()) return;
  const int rest = static_cast<int>(tensor.size() % 8) * facts(tensor.type()).bits % 8;
  if (rest != 0) bytes.back() &= std::byte((1 << rest) - 1);
}

void read_strings(const pb::TensorProto& proto, const Limits& limits, Tensor& tensor) {
  std::string* to = tensor.data<std::string>();
  for (const std::string& text : proto.string_data()) {
    const Index length = static_cast<Index>(text.size());
    if (length > limits.string_bytes) throw over_limit("string_bytes", length, limits.string_bytes);
    *to++ = text;
  }
  tensor.charge_texts();
}

Index entries_needed(Type type, Field home, Index size) {
  if (facts(type).is_complex) return 2 * size;
  return home == Field::int32s ? int32_entries(type, size) : size;
}

Index entries_found(const pb::TensorProto& proto, Field home) {
  switch (home) {
    case Field::floats:
      return proto.float_data_size();
    case Field::doubles:
      return proto.double_data_size();
    case Field::int64s:
      return proto.int64_data_size();
    case Field::uint64s:
      return proto.uint64_data_size();
    case Field::strings:
      return proto.string_data_size();
    default:
      return proto.int32_data_size();
  }
}

const char* field_name(Field field) {
  switch (field) {
    case Field::floats:
      return "float_data";
    case Field::doubles:
      return "double_data";
    case Field::int64s:
      return "int64_data";
    case Field::uint64s:
      return "uint64_data";
    case Field::strings:
      return "string_data";
    case Field::raw:
      return "raw_data";
    default:
      return "int32_data";
  }
}

Tensor read_typed(const pb::TensorProto& proto, Type type, const Shape& shape, Index size,
                  Field used, const Limits& limits) {
  const Field home = home_of(type);
  if (used != Field::none && used != home) {
    throw breach("model/tensor-data",
                 "data of type " + std::string(name(type)) + " stands in " + field_name(used));
  }
  const Index needed = entries_needed(type, home, size);
  need_entries(field_name(home), needed, entries_found(proto, home));
  Tensor tensor(type, shape, Storage::weights);
  switch (home) {
    case Field::floats:
      copy_entries<float>("float_data", proto.float_data(), needed, tensor);
      break;
    case Field::doubles:
      copy_entries<double>("double_data", proto.double_data(), needed, tensor);
      break;
    case Field::int64s:
      copy_entries<std::int64_t>("int64_data", proto.int64_data(), needed, tensor);
      break;
    case Field::strings:
      read_strings(proto, limits, tensor);
      break;
    case Field::uint64s:
      if (type == Type::uint32)
        copy_entries<std::uint32_t>("uint64_data", proto.uint64_data(), needed, tensor);
      else
        copy_entries<std::uint64_t>("uint64_data", proto.uint64_data(), needed, tensor);
      break;
    default:
      copy_int32s(proto, tensor);
  }
  settle(tensor);
  return tensor;
}

}  // namespace

Type read_element_type(int code) {
  if (code == 0) throw breach("model/tensor-type", "the element type is not set");
  if (code < 0 || code > static_cast<int>(Type::float6e3m2)) {
    throw breach("model/type-unknown", "element type " + std::to_string(code) + " is not known");
  }
  return static_cast<Type>(code);
}

Shape read_dims(const google::protobuf::RepeatedField<std::int64_t>& dims, const Limits& limits) {
  if (dims.size() > limits.rank_checked)
    throw over_limit("rank_checked", dims.size(), limits.rank_checked);
  Shape shape;
  for (const std::int64_t dim : dims) {
    if (dim < 0) throw breach("model/tensor-shape", "a dimension is " + std::to_string(dim));
    shape.push_back(dim);
  }
  return shape;
}

Tensor read_tensor(const pb::TensorProto& proto, const Source& source) {
  const Limits& limits = source.limits;
  const Type type = read_element_type(proto.data_type());
  const Shape shape = read_dims(proto.dims(), limits);
  if (proto.has_segment())
    throw breach("model/tensor-segment", "the tensor is one segment of a larger one");
  const Index size = check_size(type, shape, limits);
  const Index bytes = packed_bytes(type, size);

  const auto found = source.left.find(&proto);
  const LeftInFile left = found == source.left.end() ? LeftInFile{} : found->second;
  const Field used = field_in_use(proto, left);
  if (proto.data_location() == pb::TensorProto::EXTERNAL) {
    if (used != Field::none)
      throw breach("model/tensor-data", "data stands both in the model and outside it");
    if (type == Type::string) throw breach("model/tensor-data", "strings cannot be external data");
    const ExternalData data = find_external(proto, source, bytes);
    Tensor tensor(type, shape, Storage::weights);
    data.file.read_into(data.offset, tensor.bytes());
    settle(tensor);
    return tensor;
  }
  if (used == Field::raw) {
    if (type == Type::string) throw breach("model/tensor-data", "strings stand in raw_data");
    const bool is_left = left.length > 0;
    need_entries("raw_data", bytes,
                 is_left ? left.length : static_cast<Index>(proto.raw_data().size()));
    Tensor tensor(type, shape, Storage::weights);
    if (is_left) {
      source.file->read_into(left.offset, tensor.bytes());
    } else {
      std::memcpy(tensor.bytes().data(), proto.raw_data().data(), proto.raw_data().size());
    }
    settle(tensor);
    return tensor;
  }
  return read_typed(proto, type, shape, size, used, limits);
}

}  // namespace touchstone
