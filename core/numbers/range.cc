// Access to tensor elements by index: one by one, in ranges, and the conversion of whole tensors.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/budget.h"
#include "core/error.h"
#include "core/numbers/convert.h"
#include "core/numbers/text.h"

namespace touchstone {
namespace {

struct Place {  // position of a packed code, which may span two bytes
  std::size_t byte;
  int shift;
};

Place place_of(Index element, int bits) {
  const auto group = static_cast<std::size_t>(element / 8 * bits);
  const int within = static_cast<int>(element % 8) * bits;
  return {group + static_cast<std::size_t>(within / 8), within % 8};
}

// Reads a code of `bytes` bytes (little endian, as is every supported machine).
std::uint64_t load(const std::byte* from, int bytes) {
  std::uint64_t code = 0;
  std::memcpy(&code, from, static_cast<std::size_t>(bytes));
  return code;
}

void refuse_bits(const Tensor& tensor) {
  const int bits = facts(tensor.type()).bits;
  if (bits == 0 || bits > 64) BUG("the code of a string or complex element");
}

template <class From, class To, class F>
void each(const Tensor& from, Tensor& to, F convert_one) {
  std::transform(from.data<From>(), from.data<From>() + from.size(), to.data<To>(), convert_one);
}

// Converts a number. A NaN keeps only its sign, as in `encode`, not the payload that the hardware
// would keep.
template <class To, class From>
To number_or_nan(From x) {
  constexpr To nan = std::numeric_limits<To>::quiet_NaN();
  return std::isnan(x) ? std::copysign(nan, static_cast<To>(x)) : static_cast<To>(x);
}

// The pairs that models cast most often, without going through long double.
bool convert_quickly(const Tensor& from, Tensor& to) {
  const auto is = [&](Type a, Type b) { return from.type() == a && to.type() == b; };
  if (is(Type::float32, Type::float16)) {
    each<float, Float16>(from, to, [](float x) { return to_float16(x); });
  } else if (is(Type::float32, Type::bfloat16)) {
    each<float, BFloat16>(from, to, [](float x) { return to_bfloat16(x); });
  } else if (is(Type::float16, Type::float32)) {
    each<Float16, float>(from, to, [](Float16 x) { return to_float(x); });
  } else if (is(Type::bfloat16, Type::float32)) {
    each<BFloat16, float>(from, to, [](BFloat16 x) { return to_float(x); });
  } else if (is(Type::float32, Type::float64)) {
    each<float, double>(from, to, [](float x) { return number_or_nan<double>(x); });
  } else if (is(Type::float64, Type::float32)) {
    each<double, float>(from, to, [](double x) { return number_or_nan<float>(x); });
  } else if (is(Type::int64, Type::int32)) {
    each<std::int64_t, std::int32_t>(from, to,
                                     [](std::int64_t x) { return static_cast<std::int32_t>(x); });
  } else if (is(Type::int32, Type::int64)) {
    each<std::int32_t, std::int64_t>(from, to, [](std::int32_t x) { return std::int64_t{x}; });
  } else {
    return false;
  }
  return true;
}

void copy_elements(const Tensor& from, Tensor& to) {
  if (from.type() == Type::string) {
    std::copy_n(from.data<std::string>(), from.size(), to.data<std::string>());
  } else if (from.size() != 0) {
    std::memcpy(to.bytes().data(), from.bytes().data(), from.bytes().size());
  }
}

}  // namespace

std::uint64_t code_at(const Tensor& tensor, Index element) {
  refuse_bits(tensor);
  const int bits = facts(tensor.type()).bits;
  const auto* bytes = tensor.data<std::byte>();
  if (bits >= 8) return load(bytes + element * (bits / 8), bits / 8);
  const Place place = place_of(element, bits);
  const std::uint64_t window = load(bytes + place.byte, place.shift + bits > 8 ? 2 : 1);
  return window >> place.shift & ((1U << bits) - 1);
}

void set_code(Tensor& tensor, Index element, std::uint64_t code) {
  refuse_bits(tensor);
  const int bits = facts(tensor.type()).bits;
  auto* bytes = tensor.data<std::byte>();
  if (bits >= 8) {
    std::memcpy(bytes + element * (bits / 8), &code, static_cast<std::size_t>(bits / 8));
    return;
  }
  const Place place = place_of(element, bits);
  const int length = place.shift + bits > 8 ? 2 : 1;
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  const std::uint64_t window =
      (load(bytes + place.byte, length) & ~(mask << place.shift)) | (code & mask) << place.shift;
  std::memcpy(bytes + place.byte, &window, static_cast<std::size_t>(length));
}

long double number_at(const Tensor& tensor, Index element) {
  return decode(tensor.type(), code_at(tensor, element));
}

void set_number(Tensor& tensor, Index element, long double value, Saturate saturate,
                Rounding rounding) {
  set_code(tensor, element, encode(tensor.type(), value, saturate, rounding));
}

void decode_range(const Tensor& tensor, Index first, std::span<long double> values) {
  switch (tensor.type()) {
    case Type::float32:
      std::copy_n(tensor.data<float>() + first, values.size(), values.begin());
      return;
    case Type::float64:
      std::copy_n(tensor.data<double>() + first, values.size(), values.begin());
      return;
    case Type::int64:
      std::copy_n(tensor.data<std::int64_t>() + first, values.size(), values.begin());
      return;
    case Type::int32:
      std::copy_n(tensor.data<std::int32_t>() + first, values.size(), values.begin());
      return;
    default:
      break;
  }
  for (long double& value : values) value = number_at(tensor, first++);
}

void encode_range(Tensor& tensor, Index first, std::span<const long double> values,
                  Saturate saturate, Rounding rounding) {
  for (const long double value : values) set_number(tensor, first++, value, saturate, rounding);
}

void convert(const Tensor& from, Tensor& to, Saturate saturate, Rounding rounding) {
  if (from.size() != to.size()) BUG("a tensor is converted into one of another size");
  if (from.type() == to.type()) return copy_elements(from, to);
  if (from.type() == Type::string) {
    for (const Index k : Steps(0, from.size())) {
      set_number(to, k, parse_number(to.type(), from.data<std::string>()[k]), saturate, rounding);
    }
  } else if (to.type() == Type::string) {
    for (const Index k : Steps(0, from.size())) {
      to.data<std::string>()[k] = number_text(from.type(), number_at(from, k));
    }
  } else if (rounding != Rounding::nearest_even || saturate == Saturate::yes ||
             !convert_quickly(from, to)) {
    std::array<long double, 512> chunk;
    for (Index first = 0; first < from.size(); first += static_cast<Index>(chunk.size())) {
      const auto length = std::min<Index>(from.size() - first, chunk.size());
      charge_work(length);
      const std::span<long double> values(chunk.data(), static_cast<std::size_t>(length));
      decode_range(from, first, values);
      encode_range(to, first, values, saturate, rounding);
    }
  }
}

}  // namespace touchstone
