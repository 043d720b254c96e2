// Nodes that read nothing but constants run once, here, on the reference kernels.
#include <algorithm>

#include "core/budget.h"
#include "core/error.h"
#include "model/scopes.h"
#include "optimized/passes/graph_passes.h"
#include "optimized/passes/match.h"
#include "reference/interpreter.h"

namespace touchstone {

namespace {

constexpr std::string_view keeping = "keep-as-written";

Index bytes_of(const Tensor& tensor) {
  if (tensor.type() != Type::string) return packed_bytes(tensor.type(), tensor.size());
  Index bytes = 0;
  for (Index k = 0; k < tensor.size(); ++k)
    bytes += static_cast<Index>(tensor.data<std::string>()[k].size());
  return bytes;
}

// What an output takes, as far as that is known before the node runs.
std::optional<Index> foreseen(Workbench& bench, const std::string& value) {
  const KnownValue* known = bench.known(value);
  if (known == nullptr || !known->type || !known->rank) return std::nullopt;
  if (known->type->kind != ValueType::Kind::tensor) return std::nullopt;
  Shape shape;
  for (Index axis = 0; axis < *known->rank; ++axis) {
    const std::optional<Index> size = known->size(axis);
    if (!size) return std::nullopt;
    shape.push_back(*size);
  }
  return packed_bytes(known->type->element, count(shape));
}

// Patterns of the pass `keep-as-written` say what later passes read better as it stands.
bool is_kept(Workbench& bench, Workbench::Place place) {
  for (const Pattern& pattern : all_patterns()) {
    if (pattern.pass == keeping && is_wanted(bench.options(), keeping, pattern.level) &&
        find_match(pattern, bench, place))
      return true;
  }
  return false;
}

bool may_fold(Workbench& bench, Workbench::Place place) {
  const Node& node = *place;
  if (node.signature == nullptr || draws(node) || !subgraphs_of(node).empty()) return false;
  for (const std::string& input : node.inputs) {
    if (!input.empty() && bench.constant(input) == nullptr) return false;
  }
  for (const std::string& output : node.outputs) {
    if (bench.is_output(output)) return false;  // a node makes it, so that it keeps its name
  }
  return !is_kept(bench, place);
}

std::vector<Value> constants(const Workbench& bench, const Node& node) {
  std::vector<Value> values;
  for (const std::string& input : node.inputs)
    values.push_back(input.empty() ? Value() : Value(*bench.constant(input)));
  return values;
}

// What computing a constant may take: of what the graph's constants may take together.
class Allowance {
 public:
  explicit Allowance(Workbench& bench)
      : bench_(bench),
        budget_("folding_work", bench.options().limits.folding_work - bench.folding_work) {}
  ~Allowance() { bench_.folding_work += budget_.work(); }
  Allowance(const Allowance&) = delete;
  Allowance& operator=(const Allowance&) = delete;

 private:
  Workbench& bench_;
  const Budget budget_;
};

bool fold(Workbench& bench, const Node& node) {
  Index most = bench.options().growth;
  std::vector<Value> inputs = constants(bench, node);
  for (const Value& input : inputs) {
    if (!input.absent()) most += bytes_of(input.tensor());
  }
  for (const std::string& output : node.outputs) {
    const std::optional<Index> bytes = output.empty() ? std::nullopt : foreseen(bench, output);
    if (bytes && *bytes > most) return false;
  }
  std::vector<Value> outputs;
  try {
    const Allowance allowance(bench);
    outputs = evaluate(*node.signature, node.attributes, std::move(inputs),
                       static_cast<Index>(node.outputs.size()));
  } catch (const Error& error) {
    if (error.kind == ErrorKind::internal) throw;
    check_budget();
    return false;  // whoever runs the model is told
  }
  Index bytes = 0;
  for (const Value& output : outputs) {
    if (!output.is_tensor()) return false;
    bytes += bytes_of(output.tensor());
  }
  if (bytes > most) return false;
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    if (!node.outputs[k].empty()) bench.add_constant(node.outputs[k], outputs[k].tensor());
  }
  return true;
}

}  // namespace

bool draws(const Node& node) {
  if (node.function || node.signature->kind == "random") return true;
  const auto& attributes = node.signature->attributes;
  return std::any_of(attributes.begin(), attributes.end(),
                     [](const AttributeSpec& attribute) { return attribute.name == "seed"; });
}

Index fold_constants(Workbench& bench) {
  Index changes = 0;
  for (auto place = bench.nodes().begin(); place != bench.nodes().end();) {
    if (may_fold(bench, place) && fold(bench, *place)) {
      place = bench.erase(place);
      ++changes;
    } else {
      ++place;
    }
  }
  return changes;
}

}  // namespace touchstone
