// Tests the lowering of 16-bit floats: nodes have the reference's bits, and none runs on it.
#include <gmock/gmock.h>

#include "core/numbers/convert.h"
#include "optimized/kernels/half_rounding.h"
#include "optimized/lowering/half_precision.h"
#include "optimized/testing.h"

namespace touchstone::optimized {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr Type half_types[] = {Type::float16, Type::bfloat16};

std::string cast(Net& net, const std::string& value, Type type) {
  return net.node("Cast", {value}, {}, {{"to", static_cast<Index>(type)}});
}

TEST(HalfPrecision, ConvolutionsAndPointwiseNodesAreRoundedInRegions) {
  for (const Type half : half_types) {
    SCOPED_TRACE(name(half));
    Net net({1, 16, 9, 11});
    net.opset(22);
    const std::string x = cast(net, "x", half);
    const std::string w = cast(net, net.constant({16, 16, 1, 1}), half);
    const std::string three = cast(net, net.reals({3}), half);
    const std::string made = net.node("Conv", {x, w});
    const std::string third = net.node("Div", {net.node("Relu", {made}), three});
    net.output(cast(net, net.node("Add", {third, x}), Type::float32));
    EXPECT_THAT(net.check(), Not(HasSubstr("reference")));
  }
}

TEST(HalfPrecision, MatmulsMovesAndReductions) {
  for (const Type half : half_types) {
    SCOPED_TRACE(name(half));
    Net net({3, 5, 8});
    const std::string x = cast(net, "x", half);
    const std::string w = cast(net, net.constant({8, 24}), half);
    const std::string made = net.node("MatMul", {x, w});
    const std::string turned = net.node("Transpose", {made}, {{"perm", {2, 0, 1}}});
    const std::string largest = net.node("ReduceMax", {turned}, {}, {{"keepdims", 1}});
    const std::string third = net.node("Div", {turned, cast(net, net.reals({3}), half)});
    net.output(cast(net, net.node("Sub", {third, largest}), Type::float32));
    EXPECT_THAT(net.check(), Not(HasSubstr("reference")));
  }
}

// Values, and a mask, that exceed the queries' type: the definition rounds them to infinities.
TEST(HalfPrecision, AttentionRoundsOperandsToTheTypeOfItsQueries) {
  for (const Type half : half_types) {
    SCOPED_TRACE(name(half));
    Net net({1, 1, 2, 3});
    net.opset(23);
    const std::string x = cast(net, "x", half);
    Tensor values(Type::float32, {1, 1, 2, 3}), mask(Type::float32, {2, 2});
    std::fill_n(values.data<float>(), 6, std::numeric_limits<float>::max());
    std::fill_n(mask.data<float>(), 4, std::numeric_limits<float>::lowest());
    const std::string wide = net.node("Attention", {x, x, net.held(values)});
    const std::string masked = net.node("Attention", {x, x, x, net.held(mask)});
    net.output(cast(net, wide, Type::float32));
    net.output(cast(net, masked, Type::float32));
    net.output(cast(net, net.node("Attention", {x, x, x}), Type::float32));
    EXPECT_THAT(net.check(), AllOf(HasSubstr("reference"), HasSubstr("attention")));
  }
}

// Returns the inputs of the node of this operator after the lowering.
std::vector<std::string> lowered_inputs(const Model& model, std::string_view op) {
  const Model made = lower_half_precision(model, {});
  for (const Node& node : made.graph.nodes) {
    if (node.op == op) return node.inputs;
  }
  return {};
}

TEST(HalfPrecision, AMoveOfAPartStaysNarrow) {
  Net net({40, 8});
  const std::string x = cast(net, "x", Type::float16);
  const std::string rows = net.node("Gather", {x, net.integers({3, 1})});
  net.output(cast(net, rows, Type::float32));
  EXPECT_EQ(lowered_inputs(net.model(), "Gather")[0], x);
  EXPECT_THAT(net.check(), Not(HasSubstr("reference")));
}

TEST(HalfPrecision, AMoveOfComputedElementsIsWidened) {
  Net net({40, 8});
  const std::string x = net.node("Exp", {cast(net, "x", Type::float16)});
  const std::string rows = net.node("Gather", {x, net.integers({3, 1})});
  net.output(cast(net, rows, Type::float32));
  EXPECT_NE(lowered_inputs(net.model(), "Gather")[0], x);
}

TEST(HalfPrecision, CastsOfAnyRankAndSpecialValues) {
  for (const Type half : half_types) {
    SCOPED_TRACE(name(half));
    Net net({2, 3, 2, 3, 2, 5});
    net.specials = true;
    const std::string x = net.node("Div", {"x", net.reals({3})});
    const std::string turned =
        net.node("Transpose", {cast(net, x, half)}, {{"perm", {5, 0, 4, 1, 3, 2}}});
    net.output(cast(net, net.node("Neg", {turned}), Type::float32));
    net.output(cast(net, cast(net, x, half), Type::float32));
    net.check();
  }
}

TEST(HalfPrecision, TextsHaveTheDigitsOfTheirType) {
  for (const Type half : half_types) {
    SCOPED_TRACE(name(half));
    Net net({7});
    const std::string narrow = cast(net, net.node("Div", {"x", net.reals({3})}), half);
    net.output(cast(net, narrow, Type::string), Type::string);
    const std::map<std::string, Value> feeds{{"x", whole({7}, 3)}};
    const Tensor expected = run(net.model(), feeds).begin()->second.tensor();
    const Tensor made = Session(net.model()).run(feeds).begin()->second.tensor();
    for (Index k = 0; k < expected.size(); ++k)
      EXPECT_EQ(made.data<std::string>()[k], expected.data<std::string>()[k]);
  }
}

// Every instruction set converts as the reference does.
TEST(HalfPrecision, ConversionsHaveTheReferencesBits) {
  std::vector<float> numbers;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 65521)
    numbers.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  for (const float edge : {65504.0F, 65519.99F, 65520.0F, 0x1p-14F, 0x1.ffep-15F, 0x1p-24F,
                           0x1p-25F, 0x1.8p-25F, 0.0F, 1.00048828125F, 1.00146484375F}) {
    numbers.push_back(edge);
    numbers.push_back(-edge);
  }
  const auto count = static_cast<std::int64_t>(numbers.size());
  std::vector<std::uint16_t> codes(numbers.size());
  std::vector<float> rounded(numbers.size()), back(numbers.size());
  for (const Type half : half_types) {
    SCOPED_TRACE(name(half));
    const HalfKernels& kernels = half_kernels(half);
    kernels.from_float(numbers.data(), codes.data(), count);
    kernels.to_float(codes.data(), back.data(), count);
    kernels.round(numbers.data(), rounded.data(), count);
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      const std::uint16_t expected =
          half == Type::float16 ? to_float16(numbers[k]).code : to_bfloat16(numbers[k]).code;
      const float value =
          half == Type::float16 ? to_float(Float16{expected}) : to_float(BFloat16{expected});
      const auto bits = std::bit_cast<std::uint32_t>(value);
      ASSERT_EQ(codes[k], expected) << numbers[k];
      ASSERT_EQ(std::bit_cast<std::uint32_t>(back[k]), bits) << numbers[k];
      ASSERT_EQ(std::bit_cast<std::uint32_t>(rounded[k]), bits) << numbers[k];
    }
  }
}

}  // namespace
}  // namespace touchstone::optimized
