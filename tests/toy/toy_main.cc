// Runs the toy operator in its native, bounded and exact semantics and prints one line for each
// result; tests/toy/test_toy_operator.py reads them.
#include <cstdio>

#include "core/error.h"
#include "reference/registry.h"
#include "reference/semantics/extended_call.h"

namespace touchstone {
namespace native {
void run_Toy_1(Call& call);
Inferred infer_Toy_1(const Facts& facts);
}  // namespace native
namespace extended {
void bounded_Toy_1(ExtendedCall<Bounded>& call);
void exact_Toy_1(ExtendedCall<Exact>& call);
}  // namespace extended
}  // namespace touchstone

using namespace touchstone;  // a standalone program

int main() {
  const Signature* signature = find_signature("", "Toy", 1);
  if (!signature) return std::puts("no signature"), 1;
  std::printf("signature %s-%d form %s\n", signature->op.data(), signature->since,
              signature->form.data());
  Node node;
  node.op = "Toy", node.inputs = {"x"}, node.outputs = {"y"}, node.signature = signature;
  node.attributes["slope"].is = 0.5F;
  Tensor x(Type::float32, {2, 3});
  for (Index k = 0; k < 6; ++k) x.data<float>()[k] = static_cast<float>(k) - 2.3F;
  Call call{&node, signature, {x}, std::vector<Value>(1), {true}, {}};
  native::run_Toy_1(call);
  const Tensor& y = call.outputs[0].tensor();
  std::printf("native");
  for (Index k = 0; k < 6; ++k) std::printf(" %.9g", static_cast<double>(y.data<float>()[k]));
  const Facts facts(node, *signature, describe(*signature, call.inputs), {true});
  const Inferred known = native::infer_Toy_1(facts);
  std::printf("\nshape %s\n", text(*known.shapes[0]).c_str());

  ExtendedCall<Bounded> bounded{&node, signature, {x}, {y}, {true}, 0, 0, {}};
  extended::bounded_Toy_1(bounded);
  ExtendedCall<Exact> exact{&node, signature, {x}, {y}, {true}, 0, 0, {}};
  extended::exact_Toy_1(exact);
  bool inside = true, agree = true;
  for (std::size_t k = 0; k < 6; ++k) {
    const Bounded& b = bounded.outputs[0].values[k];
    inside = inside && std::abs(static_cast<double>(y.data<float>()[k]) - b.hi) <= b.e;
    agree =
        agree && std::abs(exact.outputs[0].values[k].hi() - b.hi) <= 1e-30 + 1e-15 * std::abs(b.hi);
  }
  std::printf("bounded %s\nexact %s\n",
              inside ? "holds the native answer" : "REFUSES the native answer",
              agree ? "agrees" : "DIFFERS");
  try {
    Tensor scalar(Type::float32, {});
    Call bad{&node, signature, {scalar}, std::vector<Value>(1), {true}, {}};
    native::run_Toy_1(bad);
    std::puts("rule NOT kept");
  } catch (const Error& error) {
    std::printf("rule %s: %s\n", error.rule.c_str(), error.message.c_str());
  }
  return 0;
}
