// Tests the operators of quantized numbers against the reference, bit for bit: matmuls,
// convolutions, quantization.
#include <gmock/gmock.h>

#include <cstring>
#include <random>

#include "core/error.h"
#include "core/numbers/convert.h"
#include "model/model.h"
#include "optimized/lowering/integer_product.h"
#include "optimized/session.h"
#include "reference/interpreter.h"

namespace touchstone {
namespace {

Tensor drawn(Type type, const Shape& shape, unsigned seed) {
  std::mt19937 random(seed);
  Tensor made(type, shape);
  for (Index k = 0; k < made.size(); ++k) {
    if (type == Type::float32) {
      made.data<float>()[k] = static_cast<float>(random() % 4001) / 64.0F - 30;
    } else if (type == Type::int32) {
      made.data<std::int32_t>()[k] = static_cast<std::int32_t>(random() % 20001) - 10000;
    } else {
      const auto whole = static_cast<int>(random() % 256);
      set_number(made, k, type == Type::int8 || type == Type::int16 ? whole - 128 : whole);
    }
  }
  return made;
}

Tensor scales(const Shape& shape) {
  Tensor made(Type::float32, shape);
  for (Index k = 0; k < made.size(); ++k)
    made.data<float>()[k] = 0.01F * static_cast<float>(k % 7 + 1);
  return made;
}

struct Given {
  Tensor tensor;  // of type undefined: omitted
  bool constant = false;
};

// One node. Every input is a feed or a constant.
class OneNode {
 public:
  OneNode(const std::string& op, std::vector<Given> inputs, Index outputs = 1) {
    model_.ir_version = 10;
    model_.opsets[""] = 23;
    model_.graph.name = "one";
    Node node;
    node.op = op;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      const Tensor& tensor = inputs[k].tensor;
      if (tensor.type() == Type::undefined) {
        node.inputs.push_back("");
        continue;
      }
      const std::string name = "i" + std::to_string(k);
      node.inputs.push_back(name);
      if (inputs[k].constant) {
        model_.graph.initializers.emplace(name, tensor);
        continue;
      }
      ValueInfo info;
      info.name = name;
      info.type = tensor_type(tensor.type());
      model_.graph.inputs.push_back(info);
      feeds_.emplace(name, tensor);
    }
    for (Index k = 0; k < outputs; ++k) {
      node.outputs.push_back("y" + std::to_string(k));
      ValueInfo info;
      info.name = node.outputs.back();
      model_.graph.outputs.push_back(info);
    }
    model_.graph.nodes.push_back(std::move(node));
  }
  OneNode& list(const std::string& name, std::vector<Index> items) {
    model_.graph.nodes[0].attributes[name].is = std::move(items);
    return *this;
  }
  OneNode& number(const std::string& name, Index item) {
    model_.graph.nodes[0].attributes[name].is = item;
    return *this;
  }
  OneNode& word(const std::string& name, const std::string& item) {
    model_.graph.nodes[0].attributes[name].is = item;
    return *this;
  }

  // Requires the reference's bits on one and two threads. Returns the kernel.
  std::string check() {
    resolve(model_);
    require_valid(model_, Limits::trusted());
    const std::map<std::string, Value> expected = touchstone::run(model_, feeds_);
    std::string kernel;
    for (const Index threads : {1, 2}) {
      Session session(model_, {.threads = threads});
      for (int again = 0; again < 2; ++again) {
        const std::map<std::string, Value> made = session.run(feeds_);
        for (const auto& [name, value] : expected) {
          const Tensor &wanted = value.tensor(), &got = made.at(name).tensor();
          EXPECT_EQ(got.shape(), wanted.shape());
          EXPECT_EQ(got.type(), wanted.type());
          if (got.bytes().size() != wanted.bytes().size()) continue;
          EXPECT_TRUE(
              wanted.bytes().empty() ||
              std::memcmp(got.bytes().data(), wanted.bytes().data(), wanted.bytes().size()) == 0)
              << name << " of " << text(wanted.shape());
        }
      }
      for (const Placement& row : session.placement()) kernel += row.kernel + "; ";
    }
    return kernel;
  }
  void is_fast() {
    const std::string kernel = check();
    EXPECT_THAT(kernel, ::testing::Not(::testing::HasSubstr("reference")));
  }
  // False if a run passes this limit on elementary operations.
  bool runs_within(Index work) {
    resolve(model_);
    Limits limits = Limits::trusted();
    limits.work = work;
    Session session(model_, {.threads = 2, .limits = limits});
    try {
      session.run(feeds_);
      return true;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind, ErrorKind::limit) << error.what();
      return false;
    }
  }

 private:
  Model model_;
  std::map<std::string, Value> feeds_;
};

constexpr Type bytes[] = {Type::uint8, Type::int8};

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

TEST(IntegerConvolution, WindowsGroupsAndTypes) {
  struct Case {
    Shape x, w;
    Index group = 1;
    std::vector<Index> pads = {}, strides = {}, dilations = {};
    std::string padding = "NOTSET";
  };
  const Case cases[] = {
      {{2, 5, 9, 11}, {7, 5, 1, 1}},
      {{1, 4, 7, 7}, {8, 4, 3, 3}, 1, {1, 1, 1, 1}},
      {{1, 4, 20, 23}, {6, 2, 3, 5}, 2, {2, 0, 1, 3}, {2, 1}},
      {{2, 6, 10, 10}, {6, 1, 3, 3}, 6, {1, 1, 1, 1}, {2, 2}},
      {{1, 3, 12, 9}, {4, 3, 2, 3}, 1, {}, {1, 3}, {3, 2}},
      {{1, 3, 30}, {5, 3, 4}, 1, {}, {2}, {}, "SAME_UPPER"},
      {{1, 2, 31}, {5, 2, 4}, 1, {}, {}, {}, "SAME_LOWER"},
      {{1, 2, 5, 6, 7}, {3, 2, 2, 3, 2}, 1, {1, 0, 1, 0, 2, 1}},
      {{3, 4}, {5, 4}},
      {{1, 2, 6, 6}, {3, 2, 3, 3}, 1, {-1, 0, 2, -1}},
      {{1, 16, 6, 70}, {70, 16, 1, 1}, 1, {}, {2, 2}},
  };
  unsigned seed = 100;
  for (const Case& c : cases) {
    for (const bool rounded : {false, true}) {
      const Type x = bytes[++seed % 2], w = bytes[seed / 2 % 2];
      const Index filters = c.w[0];
      const Given image{drawn(x, c.x, seed)}, weights{drawn(w, c.w, seed + 1), seed % 3 != 0};
      const Given x_zero{drawn(x, {}, 7)}, w_zero{drawn(w, rounded ? Shape{filters} : Shape{}, 8)};
      OneNode node = rounded ? OneNode("QLinearConv", {image,
                                                       {scales({})},
                                                       x_zero,
                                                       weights,
                                                       {scales({filters})},
                                                       w_zero,
                                                       {scales({})},
                                                       {drawn(bytes[seed / 4 % 2], {}, 9)},
                                                       {drawn(Type::int32, {filters}, 10)}})
                             : OneNode("ConvInteger", {image, weights, x_zero, w_zero});
      if (!c.pads.empty()) node.list("pads", c.pads);
      if (!c.strides.empty()) node.list("strides", c.strides);
      if (!c.dilations.empty()) node.list("dilations", c.dilations);
      node.number("group", c.group).word("auto_pad", c.padding);
      SCOPED_TRACE(text(c.x) + text(c.w));
      node.is_fast();
    }
  }
}

TEST(IntegerConvolution, FarApartWindowsRunOnTheReference) {
  OneNode node("ConvInteger",
               {{drawn(Type::uint8, {1, 1, 1}, 1)}, {drawn(Type::int8, {1, 1, 2}, 2)}});
  node.list("pads", {1 << 30, 0}).list("dilations", {1 << 30});
  EXPECT_THAT(node.check(), ::testing::HasSubstr("reference"));
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
    if (!processor_has(isa)) continue;
    all.push_back(&integer_tiles(isa, false));
    if (processor_has_integer_dots(isa)) all.push_back(&integer_tiles(isa, true));
  }
  constexpr Index depth = 35003, rows = 8, columns = 70;
  const Tensor a = drawn(Type::uint8, {rows, depth}, 1),
               b = drawn(Type::uint8, {depth, columns}, 2);
  for (const IntegerTiles* tiles : all) {
    const Index stored = (depth + 3) / 4 * 4,
                panels = (columns + tiles->columns - 1) / tiles->columns;
    std::vector<std::int16_t> packed_a(static_cast<std::size_t>(rows * stored));
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
}  // namespace touchstone
