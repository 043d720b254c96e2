// Property tests of shape inference over all versions: what it states of a drawn call before it
// runs is what the reference gives.
//
// TOUCHSTONE_DRAWS sets the number of draws per version.
#include <gtest/gtest.h>

#include <set>
#include <string_view>

#include "fuzz/op/control.h"
#include "fuzz/op/draw.h"
#include "fuzz/op/source.h"
#include "fuzz/op/testing.h"
#include "fuzz/shapes_testing.h"
#include "model/model.h"
#include "reference/interpreter.h"

namespace touchstone::fuzz {
namespace {

// A valid call and its outputs.
struct Call {
  std::string text;
  Model model;  // resolved
  Feeds feeds;
  std::map<std::string, Value> outputs;
};

std::optional<Call> draw_call(const Signature& signature, Random& random) {
  Call call;
  if (has_body_template(signature)) {
    std::optional<Case> one = draw_with_body(signature, {}, random);
    if (!one) return std::nullopt;
    call = {one->text, std::move(one->model), std::move(one->feeds.front()), {}};
  } else {
    std::optional<Drawn> one = draw_valid(signature, known_of_suite(), {}, random);
    if (!one) return std::nullopt;
    call = {text(one->draft), std::move(one->made.model), {}, {}};
    for (std::size_t k = 0; k < one->made.feeds.size(); ++k)
      call.feeds[call.model.graph.inputs[k].name] = std::move(one->made.feeds[k]);
  }
  resolve(call.model);
  call.outputs = run(call.model, call.feeds);
  return call;
}

// Compares proved types and shapes with the call's; returns the number of outputs without a proof.
Index expect_proved(const Call& call, const Model& model, const Feeds& feeds) {
  SCOPED_TRACE(call.text);
  ShapeProver prover(model, {});
  prover.prove(shapes_of(feeds));
  return compare_proofs(prover, call.outputs).open;
}

// Returns the call's model with each fed tensor as a constant.
Model with_constants(const Call& call) {
  Model model = call.model;
  std::erase_if(model.graph.inputs, [&](const ValueInfo& input) {
    const auto fed = call.feeds.find(input.name);
    if (fed == call.feeds.end() || !fed->second.is_tensor()) return false;
    model.graph.initializers[input.name] = fed->second.tensor();
    return true;
  });
  resolve(model);
  return model;
}

// Makes symbols of some sizes of the inputs: one for each, or one for all that are equal.
void draw_symbols(Model& model, const Feeds& feeds, Random& random) {
  const bool shared = random.one_in(2), some = random.one_in(4);
  for (ValueInfo& input : model.graph.inputs) {
    const auto fed = feeds.find(input.name);
    if (fed == feeds.end() || !fed->second.is_tensor()) continue;
    const Shape shape = fed->second.tensor().shape();
    input.shape.emplace(static_cast<std::size_t>(shape.size()));
    for (Index axis = 0; axis < shape.size(); ++axis) {
      Dim& dim = (*input.shape)[static_cast<std::size_t>(axis)];
      if (some && random.one_in(2)) {
        dim.size = shape[axis];
      } else {
        dim.symbol =
            shared ? "s" + std::to_string(shape[axis]) : input.name + "_" + std::to_string(axis);
      }
    }
  }
}

// Returns the call's model with symbols in the place of sizes, and no declared ones of outputs.
Model with_symbols(const Call& call, Random& random) {
  Model model = call.model;
  draw_symbols(model, call.feeds, random);
  for (ValueInfo& output : model.graph.outputs) output.shape.reset();
  return model;
}

SizeTally expect_inferred(const Call& call, const Model& model) {
  const InferredShapes inferred = infer_shapes(model, {});
  for (const Error& breach : inferred.breaches)
    ADD_FAILURE() << call.text << "\n" << breach.message;
  std::map<std::string, Value> values = call.outputs;
  values.insert(call.feeds.begin(), call.feeds.end());
  const SizeTally tally = compare_sizes(inferred, symbols_of(model, call.feeds), values);
  EXPECT_EQ(tally.wrong, "") << call.text;
  return tally;
}

// Elements decide sizes of these, a container or an unknown trip count hides them, or the version
// has a batch (Scan-8): constant inputs are not enough.
const std::set<std::string_view> open_with_constants = {
    "CastMap",
    "Compress",
    "ConcatFromSequence",
    "DictVectorizer",
    "ImageDecoder",
    "Loop",
    "NonMaxSuppression",
    "NonZero",
    "OptionalGetElement",
    "Scan",
    "SequenceAt",
    "StringNormalizer",
    "StringSplit",
    "TfIdfVectorizer",
    "Unique",
};

TEST(ShapesOfCalls, AreThoseOfTheRun) {
  SizeTally all;
  for (const Signature& signature : all_signatures()) {
    if (known_of_suite().seeds.of(signature).valid.empty() && !has_body_template(signature))
      continue;
    SCOPED_TRACE(name_of(signature));
    Random random(static_cast<std::uint64_t>(signature.since) + 7919);
    Index open = 0;
    for (int k = 0; k < draws(3); ++k) {
      const std::optional<Call> call = draw_call(signature, random);
      if (!call) continue;
      expect_proved(*call, call->model, call->feeds);
      Feeds rest = call->feeds;
      std::erase_if(rest, [](const auto& fed) { return fed.second.is_tensor(); });
      open += expect_proved(*call, with_constants(*call), rest);
      all += expect_inferred(*call, with_symbols(*call, random));
    }
    EXPECT_TRUE(open == 0 || open_with_constants.contains(signature.op)) << open;
  }
  EXPECT_GE(10 * all.known, 7 * (all.known + all.assumed + all.open))
      << all.known << " " << all.assumed << " " << all.open;
}

}  // namespace
}  // namespace touchstone::fuzz
