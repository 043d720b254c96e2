// Tests the operators of quantized numbers against the reference, bit for bit: matmuls,
// quantization.
#include "optimized/lowering/integer_product.h"
#include "optimized/lowering/integer_testing.h"

namespace touchstone::optimized {
namespace {

TEST(IntegerMatmul, TypesSizesAndZeroPoints) {
  const Shape sizes[] = {{1, 1, 1},   {1, 3, 5},    {2, 4, 64},   {7, 70, 65},
                         {13, 9, 33}, {6, 130, 49}, {50, 17, 130}};
  unsigned seed = 0;
  for (const Shape& s : sizes) {
    for (const Type a : bytes) {
      for (const Type b : bytes) {
        const bool constant = ++seed % 2 == 0, wide = seed % 3 == 0;
        OneNode("MatMulInteger", {{drawn(a, {s[0], s[1]}, seed)},
                                  {drawn(b, {s[1], s[2]}, seed + 1), constant},
                                  {drawn(a, wide ? Shape{s[0]} : Shape{}, seed + 2)},
                                  {drawn(b, wide ? Shape{s[2]} : Shape{1}, seed + 3), constant}})
            .is_fast();
      }
    }
  }
}

TEST(IntegerMatmul, VectorsAndBatches) {
  const std::pair<Shape, Shape> shapes[] = {
      {{5}, {5}},          {{5}, {5, 3}},       {{4, 5}, {5}},
      {{2, 3, 5}, {5, 4}}, {{3, 5}, {2, 5, 4}}, {{2, 1, 3, 5}, {4, 5, 2}},
      {{2, 3, 0}, {0, 4}}, {{0, 5}, {5, 4}},    {{70, 2, 3}, {70, 3, 2}}};
  unsigned seed = 50;
  for (const auto& [a, b] : shapes) {
    for (const bool constant : {false, true}) {
      ++seed;
      OneNode("MatMulInteger", {{drawn(Type::uint8, a, seed)},
                                {drawn(Type::int8, b, seed + 1), constant},
                                {drawn(Type::uint8, {}, seed + 2)},
                                {Tensor()}})
          .check();
    }
  }
  OneNode("MatMulInteger", {{drawn(Type::uint8, {2, 3, 5}, 1)},
                            {drawn(Type::int8, {2, 5, 4}, 2)},
                            {drawn(Type::uint8, {2, 3, 1}, 3)},
                            {drawn(Type::int8, {2, 1, 4}, 4)}})
      .is_fast();
}

TEST(IntegerMatmul, RoundedToBytes) {
  unsigned seed = 80;
  for (const Type y : bytes) {
    for (const bool wide : {false, true}) {
      ++seed;
      const Shape of_a = wide ? Shape{9} : Shape{}, of_b = wide ? Shape{70} : Shape{};
      OneNode("QLinearMatMul", {{drawn(Type::uint8, {9, 30}, seed)},
                                {scales(of_a)},
                                {drawn(Type::uint8, of_a, 3)},
                                {drawn(Type::int8, {30, 70}, seed + 1), true},
                                {scales(of_b)},
                                {drawn(Type::int8, of_b, 4)},
                                {scales({})},
                                {drawn(y, {}, 5)}})
          .is_fast();
    }
  }
}

TEST(IntegerProducts, ChargeTheirWork) {
  const Tensor x = drawn(Type::uint8, {100, 2000}, 1), w = drawn(Type::int8, {2000, 100}, 2);
  OneNode matmul("MatMulInteger", {{x}, {w}});
  EXPECT_FALSE(matmul.runs_within(2'000'000));
  EXPECT_TRUE(matmul.runs_within(30'000'000));
  OneNode convolution("ConvInteger", {{drawn(Type::uint8, {1, 200, 20, 20}, 3)},
                                      {drawn(Type::int8, {30, 200, 3, 3}, 4)}});
  EXPECT_FALSE(convolution.runs_within(2'000'000));
  EXPECT_TRUE(convolution.runs_within(30'000'000));
}

TEST(QuantizeLinear, ScalesForAllForSlicesAndForBlocks) {
  struct Case {
    Shape x, scale;
    Index axis = 1, block = 0;
  };
  const Case cases[] = {
      {{3, 5}, {}},         {{20000}, {1}}, {{2, 5, 7}, {5}},        {{4, 70}, {70}},
      {{2, 3, 4}, {2}, -3}, {{6}, {6}},     {{3, 10}, {3, 4}, 1, 3}, {{10, 3}, {4, 3}, 0, 3},
      {{0, 3}, {}}};
  unsigned seed = 200;
  for (const Case& c : cases) {
    for (const Type type : {Type::uint8, Type::int8, Type::uint16, Type::int16}) {
      const Type from = ++seed % 3 == 0 ? Type::int32 : Type::float32;
      SCOPED_TRACE(text(c.x));
      OneNode("QuantizeLinear",
              {{drawn(from, c.x, seed)}, {scales(c.scale)}, {drawn(type, c.scale, 3)}})
          .number("axis", c.axis)
          .number("block_size", c.block)
          .is_fast();
      OneNode("DequantizeLinear",
              {{drawn(type, c.x, seed)}, {scales(c.scale)}, {drawn(type, c.scale, 4)}})
          .number("axis", c.axis)
          .number("block_size", c.block)
          .is_fast();
    }
    OneNode("DequantizeLinear", {{drawn(Type::int32, c.x, seed)}, {scales(c.scale)}})
        .number("axis", c.axis)
        .number("block_size", c.block)
        .is_fast();
  }
}

TEST(QuantizeLinear, NumbersThatAreNotFiniteAndTies) {
  Tensor x(Type::float32, {40});
  for (Index k = 0; k < x.size(); ++k) x.data<float>()[k] = static_cast<float>(k) / 2 - 10;
  x.data<float>()[3] = std::numeric_limits<float>::quiet_NaN();
  x.data<float>()[20] = std::numeric_limits<float>::infinity();
  x.data<float>()[37] = -std::numeric_limits<float>::infinity();
  Tensor one(Type::float32, {}), none(Type::float32, {});
  *one.data<float>() = 1;
  for (const Tensor& scale : {one, none}) OneNode("QuantizeLinear", {{x}, {scale}}).is_fast();
}

TEST(DynamicQuantizeLinear, RangesOfAllKinds) {
  OneNode("DynamicQuantizeLinear", {{drawn(Type::float32, {3, 7000}, 1)}}, 3).is_fast();
  OneNode("DynamicQuantizeLinear", {{drawn(Type::float32, {5}, 2)}}, 3).is_fast();
  OneNode("DynamicQuantizeLinear", {{Tensor(Type::float32, {70})}}, 3).is_fast();
  OneNode("DynamicQuantizeLinear", {{Tensor(Type::float32, {0, 3})}}, 3).is_fast();
  for (const float special : {std::numeric_limits<float>::infinity(), 1e-45F, -1e-45F, 3e38F,
                              -std::numeric_limits<float>::infinity()}) {
    for (const Index at : {2, 69}) {
      Tensor x(Type::float32, {70});
      x.data<float>()[at] = special;
      OneNode("DynamicQuantizeLinear", {{x}}, 3).check();
    }
  }
}

// Sums that wrap, for every set of tiles that the processor has.
TEST(IntegerTiles, SumsModuloTwoToTheThirtyTwo) {
  std::vector<const IntegerTiles*> all;
  for (const Isa isa : all_isas) {
    for (const IntegerDots dots : all_integer_dots) {
      if (processor_has(dots, isa)) all.push_back(&integer_tiles(isa, dots));
    }
  }
  constexpr Index depth = 35003, rows = 8, columns = 70;
  const Tensor a = drawn(Type::uint8, {rows, depth}, 1),
               b = drawn(Type::uint8, {depth, columns}, 2);
  for (const IntegerTiles* tiles : all) {
    const Index block = 4 * tiles->fours, stored = (depth + block - 1) / block * block,
                panels = (columns + tiles->columns - 1) / tiles->columns;
    std::vector<std::int16_t> packed_a(static_cast<std::size_t>((rows + tiles->rows) * stored));
    std::vector<std::uint8_t> packed_b(static_cast<std::size_t>(panels * stored * tiles->columns));
    std::vector<std::int32_t> a_sum(rows), zeros(rows, -128), b_sum(columns), rests(columns);
    std::vector<std::int32_t> b_zero(columns, 5), c(rows * columns);
    auto* const to = reinterpret_cast<std::byte*>(packed_a.data());
    for (Index m = 0; m < rows; ++m)
      a_sum[static_cast<std::size_t>(m)] = tiles->pack_row(
          a.data<std::uint8_t>() + m * depth, depth, 128, to + m * stored * tiles->a_bytes);
    for (Index p = 0; p < panels; ++p) {
      const Index n = p * tiles->columns;
      for (Index k = 0; k < depth; k += 4)
        tiles->pack_group(b.data<std::uint8_t>() + k * columns + n, columns,
                          std::min<Index>(4, depth - k), std::min(tiles->columns, columns - n), 0,
                          packed_b.data() + (p * stored + k) * tiles->columns, b_sum.data() + n);
    }
    for (std::size_t n = 0; n < columns; ++n) rests[n] = rest_of(b_sum[n], 5, depth);
    IntegerProduct product{};
    product.a = packed_a.data();
    product.a_row = product.depth = stored;
    product.step = tiles->fours == 1 ? 0 : 4 * tiles->columns;
    product.b = packed_b.data();
    product.columns = product.row = columns;
    product.a_zero = zeros.data();
    product.a_sum = a_sum.data();
    product.b_zero = b_zero.data();
    product.b_rest = rests.data();
    product.c = c.data();
    for (Index p = 0; p < panels; ++p) tiles->multiply(product, p, 0, rows);
    for (Index m = 0; m < rows; ++m) {
      std::vector<std::int64_t> sums(columns);  // A's zero point is 0 before its numbers are moved
      for (Index k = 0; k < depth; ++k) {
        const std::int64_t one = a.data<std::uint8_t>()[m * depth + k];
        for (Index n = 0; n < columns; ++n)
          sums[static_cast<std::size_t>(n)] += one * (b.data<std::uint8_t>()[k * columns + n] - 5);
      }
      for (Index n = 0; n < columns; ++n) {
        const std::int64_t sum = sums[static_cast<std::size_t>(n)];
        ASSERT_EQ(c[static_cast<std::size_t>(m * columns + n)],
                  static_cast<std::int32_t>(static_cast<std::uint32_t>(sum)))
            << tiles->columns << " columns, at " << m << ", " << n;
      }
    }
  }
}

}  // namespace
}  // namespace touchstone::optimized
