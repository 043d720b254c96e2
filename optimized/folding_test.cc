// Tests that constants which kernels of a session fold are those of the reference.
#include "optimized/folding.h"

#include "core/error.h"
#include "optimized/testing.h"

namespace touchstone::optimized {
namespace {

Tensor codes(Shape shape) {
  Tensor made(Type::int8, std::move(shape));
  for (Index k = 0; k < made.size(); ++k)
    made.data<std::int8_t>()[k] = static_cast<std::int8_t>(k % 255 - 127);
  return made;
}

Tensor scalar_of(float value) {
  Tensor made(Type::float32, {});
  made.data<float>()[0] = value;
  return made;
}

// y = x (a b + the decoded w), with a and b both large, or one of them small.
TEST(Folding, LargeNodesOfConstantsGiveTheReferencesResults) {
  for (const Shape& inner : {Shape{80, 64}, Shape{80, 20}}) {
    Net net({3, 80});
    const std::string product =
        net.node("MatMul", {net.constant(inner), net.constant({inner[1], 96})});
    const std::string decoded =
        net.node("DequantizeLinear", {net.held(codes({80, 96})), net.held(scalar_of(0.5F))});
    net.output(net.node("MatMul", {"x", net.node("Add", {product, decoded})}));
    net.check();
    EXPECT_EQ(Session(net.model()).model().graph.nodes.size(), 1U);
  }
}

// One tensor at two inputs, an input left out, and two outputs.
TEST(Folding, NodesWithInputsAndOutputsOfEveryKind) {
  Net net({4, 128});
  const std::string a = net.constant({128, 128});
  const std::string sum = net.node("Add", {a, a});
  const std::string clipped = net.node("Clip", {sum, "", net.held(scalar_of(4.0F))});
  net.node("Split", {clipped}, {}, {{"axis", 1}, {"num_outputs", 2}});
  net.outputs({"other", "half"});
  net.output(net.node("MatMul", {"x", "half"}));
  net.check();
  EXPECT_EQ(Session(net.model()).model().graph.nodes.size(), 1U);
}

// Values that constants alone determine have the definition's bits, whether a node of the model
// reads it or it is an output: inexact passes and 16-bit nodes in float32 are for what is fed.
TEST(Folding, OutputsOfConstantsHaveTheReferencesBits) {
  Net net({1});
  net.opset(23);
  const std::string one = net.reals({1});
  net.output(net.node("BatchNormalization", {net.reals({0}), one, one, one, one}));
  const std::string half = net.node("Cast", {one}, {}, {{"to", static_cast<Index>(Type::float16)}});
  net.output(net.node("RMSNormalization", {half, one}));
  net.output("x");
  const std::map<std::string, Value> feeds{{"x", whole({1}, 1)}};
  const std::map<std::string, Value> made = Session(net.model()).run(feeds);
  for (const auto& [name, value] : run(net.model(), feeds))
    EXPECT_TRUE(same_bytes(made.at(name).tensor(), value.tensor())) << name;
}

// The evaluator itself: what reference and kernels both refuse stays for the run.
TEST(Folding, ANodeThatBreaksARuleIsReportedByTheRun) {
  Net net({4, 128});
  const std::string product = net.node("MatMul", {net.constant({128, 64}), net.constant({65, 96})});
  net.output(net.node("MatMul", {"x", product}));
  Session session(net.model(), {.threads = 1});
  EXPECT_THROW(session.run({{"x", whole({4, 128}, 1)}}), Error);
}

}  // namespace
}  // namespace touchstone::optimized
