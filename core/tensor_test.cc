// Buffers: zeroed, aligned, of exact size, shared; packing; and the limits that apply to every
// tensor.
#include "core/tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "core/error.h"
#include "core/limits.h"
#include "core/numbers/convert.h"

namespace touchstone {
namespace {

const std::vector<Type> packed_types = {Type::int4,      Type::uint4,      Type::int2,
                                        Type::uint2,     Type::float4e2m1, Type::float6e2m3,
                                        Type::float6e3m2};

template <class F>
Error error_of(F act) {
  try {
    act();
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorKind::internal, "nothing was thrown");
}

TEST(Tensor, IsZeroedAlignedAndOfExactSize) {
  for (const Index size : {0, 1, 5, 64, 1000, 16'384, 16'385, 300'000}) {
    for (int code = 1; code <= 28; ++code) {
      const Tensor tensor(static_cast<Type>(code), {size});
      EXPECT_EQ(tensor.size(), size);
      if (tensor.type() == Type::string) continue;
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.bytes().data()) % 64, 0U);
      EXPECT_EQ(static_cast<Index>(tensor.bytes().size()),
                (size * facts(tensor.type()).bits + 7) / 8);
      EXPECT_TRUE(std::all_of(tensor.bytes().begin(), tensor.bytes().end(),
                              [](std::byte b) { return b == std::byte{0}; }));
    }
  }
}

TEST(Tensor, HoldsStrings) {
  Tensor tensor(Type::string, {2, 2});
  tensor.data<std::string>()[3] = std::string(100, 'x');
  const Tensor shared = tensor.reshaped({4});
  EXPECT_EQ(shared.data<std::string>()[3].size(), 100U);
  EXPECT_EQ(shared.data<std::string>()[0], "");
  EXPECT_TRUE(shared.bytes().empty());
}

TEST(Tensor, SharesItsBufferWithCopiesAndOtherShapes) {
  Tensor tensor(Type::float32, {2, 3});
  const Tensor flat = tensor.reshaped({6});
  EXPECT_EQ(flat.data<float>(), tensor.data<float>());
  EXPECT_EQ(flat.shape(), (Shape{6}));
  EXPECT_THROW((void)tensor.reshaped({5}), Error);
  EXPECT_TRUE(Tensor().bytes().empty());
}

TEST(Packing, FollowsTheStandardsExamples) {
  Tensor four(Type::uint4, {3}), two(Type::uint2, {5}), six(Type::float6e2m3, {4});
  pack(std::vector<std::uint8_t>{0x1, 0x2, 0xF}, four);
  EXPECT_EQ(four.bytes()[0], std::byte{0x21});
  EXPECT_EQ(four.bytes()[1], std::byte{0x0F});
  pack(std::vector<std::uint8_t>{0, 1, 2, 3, 2}, two);
  EXPECT_EQ(two.bytes()[0], std::byte{0b11100100});
  EXPECT_EQ(two.bytes()[1], std::byte{0b10});
  const unsigned x0 = 0x2A, x1 = 0x15, x2 = 0x3C, x3 = 0x07;
  pack(std::vector<std::uint8_t>{0x2A, 0x15, 0x3C, 0x07}, six);
  EXPECT_EQ(six.bytes()[0], std::byte(x0 | (x1 & 3) << 6));
  EXPECT_EQ(six.bytes()[1], std::byte(x1 >> 2 | (x2 & 15) << 4));
  EXPECT_EQ(six.bytes()[2], std::byte(x2 >> 4 | x3 << 2));
}

RC_GTEST_PROP(Packing, ComesBackAndAgreesWithElementAccess,
              (const std::vector<std::uint8_t>& any)) {
  for (const Type type : packed_types) {
    std::vector<std::uint8_t> codes = any;
    for (std::uint8_t& code : codes)
      code &= static_cast<std::uint8_t>((1U << facts(type).bits) - 1);
    const auto size = static_cast<Index>(codes.size());
    Tensor packed(type, {size}), one_by_one(type, {size});
    pack(any, packed);  // bits above the code are cut off
    RC_ASSERT(unpack(packed) == codes);
    for (Index k = size - 1; k >= 0; --k) set_code(one_by_one, k, any[static_cast<std::size_t>(k)]);
    RC_ASSERT(std::ranges::equal(one_by_one.bytes(), packed.bytes()));
    for (Index k = 0; k < size; ++k)
      RC_ASSERT(code_at(packed, k) == codes[static_cast<std::size_t>(k)]);
    if (size == 0) continue;
    set_code(packed, size / 2, 0);  // leaves its neighbors unchanged
    codes[static_cast<std::size_t>(size / 2)] = 0;
    RC_ASSERT(unpack(packed) == codes);
  }
}

TEST(PackedBytes, RefusesWhatDoesNotFit) {
  const Index most = std::numeric_limits<Index>::max();
  EXPECT_EQ(packed_bytes(Type::float6e2m3, most), most / 8 * 6 + 6);
  EXPECT_EQ(packed_bytes(Type::uint8, most), most);
  EXPECT_EQ(error_of([&] { packed_bytes(Type::float32, most / 2); }).kind, ErrorKind::limit);
}

TEST(Limits, NameWhatATensorBreaks) {
  Limits limits;
  limits.elements = 100, limits.bytes = 300, limits.rank_checked = 3;
  const LimitsScope scope(limits);
  EXPECT_EQ(Tensor(Type::uint8, {100}).size(), 100);
  EXPECT_EQ(Tensor(Type::float32, {75}).size(), 75);
  EXPECT_EQ(Tensor(Type::float32, Shape(3, 2)).size(), 8);
  const auto refused = [](Type type, const Shape& shape) {
    const Error error = error_of([&] { Tensor(type, shape); });
    EXPECT_EQ(error.kind, ErrorKind::limit) << error.message;
    return error.message;
  };
  EXPECT_THAT(refused(Type::uint8, {101}), ::testing::HasSubstr("'elements'"));
  EXPECT_THAT(refused(Type::string, {101}), ::testing::HasSubstr("'elements'"));
  EXPECT_THAT(refused(Type::float32, {76}), ::testing::HasSubstr("'bytes'"));
  EXPECT_THAT(refused(Type::float32, Shape(4, 1)), ::testing::HasSubstr("'rank_checked'"));
  EXPECT_THAT(refused(Type::uint8, {Index{1} << 40, Index{1} << 40}),
              ::testing::HasSubstr("'elements'"));
  EXPECT_EQ(Tensor(Type::uint8, {Index{1} << 40, Index{1} << 40, 0}).size(), 0);
  EXPECT_EQ(error_of([] { Tensor(Type::uint8, {-1}); }).kind, ErrorKind::invalid_input);
}

TEST(Limits, ScopesNest) {
  Limits outer = Limits::fuzz(), inner = Limits::untrusted();
  const Index before = current_limits().elements;
  {
    const LimitsScope first(outer);
    {
      const LimitsScope second(inner);
      EXPECT_EQ(current_limits().elements, inner.elements);
    }
    EXPECT_EQ(current_limits().elements, outer.elements);
  }
  EXPECT_EQ(current_limits().elements, before);
  EXPECT_TRUE(Limits::untrusted().one_link && Limits::fuzz().one_link &&
              !Limits::trusted().one_link);
}

TEST(Tensor, MemoryThatCannotBeHadIsAnError) {
  Limits limits;
  limits.elements = limits.bytes = std::numeric_limits<Index>::max();
  const LimitsScope scope(limits);
  EXPECT_EQ(error_of([] { Tensor(Type::uint8, {Index{1} << 60}); }).kind, ErrorKind::out_of_memory);
}

TEST(Tensor, ScalarsShareTheBuffer) {
  Tensor whole(Type::int16, {2, 2});
  for (Index k = 0; k < 4; ++k) whole.data<std::int16_t>()[k] = static_cast<std::int16_t>(k - 1);
  const Tensor last = whole.scalar(3);
  EXPECT_EQ(last.type(), Type::int16);
  EXPECT_TRUE(last.shape().empty());
  EXPECT_EQ(last.size(), 1);
  EXPECT_EQ(last.data<std::int16_t>(), whole.data<std::int16_t>() + 3);
  EXPECT_FALSE(whole.is_sole());
  whole = Tensor();
  EXPECT_EQ(*last.data<std::int16_t>(), 2);
}

TEST(Tensor, ScalarsOfNoElementOrOfPackedOnesAreRefused) {
  EXPECT_THAT(error_of([] { Tensor(Type::float32, {2}).scalar(2); }).what(),
              testing::HasSubstr("a scalar is taken of no element"));
  EXPECT_THAT(error_of([] { Tensor(Type::int4, {2}).scalar(0); }).what(),
              testing::HasSubstr("a scalar is taken of no element"));
}

}  // namespace
}  // namespace touchstone
