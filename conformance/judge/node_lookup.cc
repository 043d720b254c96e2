// judge_node over the generated tables: the readings and kernels that the node's operator version
// has.
#include "conformance/judge/node_means.h"
#include "core/error.h"
#include "reference/facts.h"
#include "reference/interpreter.h"

namespace touchstone {
namespace {

std::vector<Described> described(const Node& node, const std::vector<Value>& inputs,
                                 const Signature& signature) {
  std::vector<Described> out;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    Described d;
    const auto last = signature.inputs.size() - 1;
    if (!signature.inputs.empty()) d.name = signature.inputs[std::min(k, last)].name;
    d.given = !inputs[k].absent() && !(k < node.inputs.size() && node.inputs[k].empty());
    if (d.given && inputs[k].is_tensor()) {
      const Tensor& t = inputs[k].tensor();
      d.type = t.type();
      d.shape = &t.shape();
      d.tensor = &t;
    }
    out.push_back(d);
  }
  return out;
}

}  // namespace

NodeJudgement judge_node(const Node& node, const std::vector<Value>& inputs,
                         const std::vector<Value>& observed, const JudgeOptions& options) {
  NodeMeans means;
  if (!node.signature) return judge_node(node, means, inputs, observed, options);
  const Signature& signature = *node.signature;
  means.wide = find_wide(signature);
  if (const ReferenceEntry* entry = find_entry(signature)) {
    if (entry->native) {
      means.native = [&](const std::vector<Value>& given) {
        return evaluate(signature, node.attributes, given, static_cast<Index>(node.outputs.size()));
      };
    }
    if (entry->infer) {
      means.infer = [&, entry]() -> std::optional<Inferred> {
        std::vector<bool> wanted;
        for (const std::string& name : node.outputs) wanted.push_back(!name.empty());
        try {
          return entry->infer(
              Facts(node, signature, described(node, inputs, signature), std::move(wanted)));
        } catch (const NotKnown&) {
          return std::nullopt;
        }
      };
    }
  }
  return judge_node(node, means, inputs, observed, options);
}

}  // namespace touchstone
