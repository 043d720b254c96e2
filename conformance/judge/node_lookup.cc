// Implements judge_node with the generated tables: semantics and kernels of the node's operator
// version.
//
// An answer that our ruling refuses is judged again by the other rulings of that version's
// questions.
#include <algorithm>

#include "conformance/judge/node_means.h"
#include "core/error.h"
#include "core/numbers/convert.h"
#include "reference/calls.h"
#include "reference/interpreter.h"
#include "reference/lookup.h"
#include "reference/semantics/converted.h"
#include "reference/semantics/follow.h"

namespace touchstone::judge {
namespace {

std::function<std::optional<Inferred>()> inferring(Infer infer, const Node& node,
                                                   const std::vector<Value>& inputs) {
  if (!infer) return {};
  return [&, infer]() -> std::optional<Inferred> {
    try {
      return infer(
          Facts(node, *node.signature, describe(*node.signature, inputs), wanted_of(node)));
    } catch (const NotKnown&) {
      return std::nullopt;
    }
  };
}

NodeMeans our_means(const Node& node, const std::vector<Value>& inputs,
                    const std::vector<Value>& observed) {
  NodeMeans means;
  means.extended = find_extended(*node.signature);
  means.converted = find_converted(*node.signature);
  const ReferenceEntry* entry = find_entry(*node.signature);
  if (!entry) return means;
  if (entry->native) {
    means.native = [&](const std::vector<Value>& given) {
      return evaluate(*node.signature, node.attributes, given,
                      static_cast<Index>(node.outputs.size()));
    };
  }
  if (const Follow follow = find_follow(*node.signature)) {
    means.native = [&, follow](const std::vector<Value>& given) {
      ExtendedCall<Bounded> call;
      call.node = &node, call.signature = node.signature;
      call.inputs = given, call.observed = observed, call.wanted = wanted_of(node);
      return follow(call);
    };
  }
  means.infer = inferring(entry->infer, node, inputs);
  return means;
}

NodeMeans means_of(const Ruling& ruling, const Node& node, const std::vector<Value>& inputs,
                   const std::vector<Value>& observed) {
  NodeMeans means;
  if (ruling.opening) {
    means.infer = our_means(node, inputs, observed).infer;
    means.follow = [&] {
      Call call = call_of(node, inputs);
      return ruling.opening(call, observed);
    };
    return means;
  }
  if (ruling.extended.bounded) means.extended = &ruling.extended;
  means.converted = find_converted(*node.signature);
  means.native = [&](const std::vector<Value>& given) {
    Call call = call_of(node, given);
    ruling.native(call);
    return call.outputs;
  };
  means.infer = inferring(ruling.infer, node, inputs);
  return means;
}

// Returns an answer with our element wherever the opening accepts theirs.
std::vector<Value> with_ours(const Opened& theirs, const Opened& ours,
                             std::vector<Value> observed) {
  for (std::size_t k = 0; k < theirs.outputs.size() && k < observed.size(); ++k) {
    if (k >= theirs.open.size() || theirs.open[k] == 0) continue;
    const Tensor &mixed = theirs.outputs[k].tensor(), &own = ours.outputs[k].tensor();
    const Tensor given = observed[k].tensor();
    Tensor made(given.type(), given.shape());
    for (Index i = 0; i < made.size(); ++i)
      copy_element(code_at(mixed, i) != code_at(own, i) ? own : given, i, made, i);
    observed[k] = std::move(made);
  }
  return observed;
}

// Judges the remaining elements of an answer, which an opening does not leave free, within their
// bounds.
NodeJudgement judge_rest(const Node& node, const Ruling& ruling, const std::vector<Value>& inputs,
                         const std::vector<Value>& observed, const JudgeOptions& options) {
  Call call = call_of(node, inputs);
  const Opened theirs = ruling.opening(call, observed), ours = ruling.opening(call, {});
  const std::vector<Value> answer = with_ours(theirs, ours, observed);
  NodeJudgement found = judge_node(node, our_means(node, inputs, answer), inputs, answer, options);
  if (found.sampled) return found;
  Index judged = 0;
  for (std::size_t k = 0; k < found.outputs.size(); ++k) {
    Comparison& c = found.outputs[k];
    const Index open = k < theirs.open.size() ? std::min(theirs.open[k], c.judged) : 0;
    c.open += open;
    c.judged -= open;
    judged += c.judged;
  }
  if (is_pass(found.verdict) && judged == 0) found.verdict = Verdict::open;
  return found;
}

}  // namespace

NodeJudgement judge_node(const Node& node, const std::vector<Value>& inputs,
                         const std::vector<Value>& observed, const JudgeOptions& options) {
  if (!node.signature) return judge_node(node, NodeMeans{}, inputs, observed, options);
  NodeJudgement first =
      judge_node(node, our_means(node, inputs, observed), inputs, observed, options);
  if (!is_fail(first.verdict)) return first;
  for (const Ruling& ruling : rulings_of(*node.signature)) {
    NodeJudgement other =
        judge_node(node, means_of(ruling, node, inputs, observed), inputs, observed, options);
    if (is_fail(other.verdict) && ruling.opening && find_extended(*node.signature))
      other = judge_rest(node, ruling, inputs, observed, options);
    if (is_fail(other.verdict) || other.verdict == Verdict::unsupported ||
        other.verdict == Verdict::harness)
      continue;
    if (is_pass(other.verdict)) other.verdict = Verdict::profile;
    other.question = ruling.question;
    return other;
  }
  return first;
}

}  // namespace touchstone::judge
