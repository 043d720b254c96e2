// Tests .npy files: round trips, and malformed ones.
#include "core/npy.h"

#include <gtest/gtest.h>

#include <cstring>

#include "core/error.h"
#include "core/numbers/convert.h"

namespace touchstone {
namespace {

std::span<const std::byte> as_bytes(const std::string& text) {
  return std::as_bytes(std::span(text));
}

Tensor counting(Type type, const Shape& shape) {
  Tensor out(type, shape);
  for (Index k = 0; k < out.size(); ++k) set_number(out, k, static_cast<long double>(k % 2));
  return out;
}

std::string file_with(const std::string& header, const std::string& items) {
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(header.size());
  out += '\0';
  return out + header + items;
}

TEST(Npy, EveryRealTypeComesBack) {
  for (int code = 1; code <= 28; ++code) {
    const Type type = static_cast<Type>(code);
    if (type == Type::string || facts(type).is_complex) continue;
    const Tensor before = counting(type, {2, 3});
    const Tensor after = parse_npy(as_bytes(serialize_npy(before)), type, Limits::untrusted());
    ASSERT_EQ(after.type(), type);
    ASSERT_EQ(after.shape(), before.shape());
    for (Index k = 0; k < 6; ++k) EXPECT_EQ(code_at(after, k), code_at(before, k)) << name(type);
  }
}

TEST(Npy, StringsComeBack) {
  Tensor before(Type::string, {2});
  before.data<std::string>()[0] = "caf\xc3\xa9 \xf0\x9f\x98\x80";
  const Tensor after =
      parse_npy(as_bytes(serialize_npy(before)), Type::string, Limits::untrusted());
  EXPECT_EQ(after.data<std::string>()[0], before.data<std::string>()[0]);
  EXPECT_EQ(after.data<std::string>()[1], "");
}

TEST(Npy, AScalarAndAnEmptyOneComeBack) {
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{3, 0, 2}}) {
    const Tensor before(Type::float32, shape);
    EXPECT_EQ(
        parse_npy(as_bytes(serialize_npy(before)), Type::float32, Limits::untrusted()).shape(),
        shape);
  }
}

TEST(Npy, NonsenseIsRefused) {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }";
  const std::string item(4, '\0');
  EXPECT_EQ(parse_npy(as_bytes(file_with(good, item)), Type::float32, Limits::untrusted()).size(),
            1);
  const std::string bad[] = {
      "",
      "not a npy file at all",
      file_with(good, item).substr(0, 30),
      file_with(good, ""),
      file_with(good, item + item),
      file_with("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", item),
      file_with("{'descr': '<f3', 'fortran_order': False, 'shape': (1,), }", item),
      file_with("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", item),
      file_with("{'descr': '<f4', 'fortran_order': True, 'shape': (1,1), }", item),
      file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", item),
      file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}", item),
      file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (1", item),
      file_with("{'descr': '<f4', 'shape': (1,)}", item),
      file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,4)}", item),
      file_with("{'descr': '|b1', 'fortran_order': False, 'shape': (1,)}", "\x02"),
  };
  for (const std::string& bytes : bad) {
    EXPECT_THROW(parse_npy(as_bytes(bytes), Type::float32, Limits::untrusted()), Error) << bytes;
  }
}

TEST(Npy, EveryTruncationIsRefused) {
  const std::string whole = serialize_npy(counting(Type::float16, {4, 5}));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THROW(parse_npy(as_bytes(whole.substr(0, length)), Type::float16, Limits::untrusted()),
                 Error)
        << length;
  }
}

}  // namespace
}  // namespace touchstone
