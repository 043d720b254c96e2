// Plans variants of a node as models of their own. No predicate of a kernel has to state reasons,
// and a stated reason is one that a plan confirms.
#include "optimized/plan/why_slow.h"

#include <algorithm>

#include "core/error.h"
#include "model/check_node.h"
#include "model/place.h"
#include "model/scopes.h"
#include "optimized/plan/groups.h"
#include "optimized/plan/plan.h"

namespace touchstone::optimized {
namespace {

constexpr Index max_guessed_rank = 5, guessed_size = 4;
constexpr Index max_constant = Index{1} << 20;  // elements of a constant that is tried

// A node as the only one of a model, with the facts of its inputs.
struct Variant {
  Model model;
  std::map<std::string, Shape> feeds;

  Node& node() { return model.graph.nodes.front(); }
  const Node& node() const { return model.graph.nodes.front(); }
  ValueInfo* input(const std::string& name) {
    for (ValueInfo& each : model.graph.inputs) {
      if (each.name == name) return &each;
    }
    return nullptr;
  }
  // Type of an input or a constant.
  std::optional<ValueType> type_of(const std::string& name) const {
    const auto held = model.graph.initializers.find(name);
    if (held != model.graph.initializers.end()) return tensor_type(held->second.type());
    for (const ValueInfo& each : model.graph.inputs) {
      if (each.name == name) return each.type;
    }
    return std::nullopt;
  }
  void declare_outputs() {
    model.graph.outputs.clear();
    for (const std::string& output : node().outputs) {
      if (!output.empty()) model.graph.outputs.emplace_back().name = output;
    }
  }
};

Variant alone(const AnalyzedGraph& graph, Index index) {
  const AnalyzedNode& fact = graph.node(index);
  Variant made;
  made.model.graph.nodes.push_back(*fact.node);
  made.node().index = 0;
  for (const Index k : fact.inputs) {
    if (k == no_value) continue;
    const AnalyzedValue& value = graph.value(k);
    if (value.constant) {
      made.model.graph.initializers.emplace(value.name, *value.constant);
    } else if (made.input(value.name) == nullptr) {
      ValueInfo& input = made.model.graph.inputs.emplace_back();
      input.name = value.name;
      input.type = value.type;
      if (value.shape) made.feeds.emplace(value.name, *value.shape);
    }
  }
  made.declare_outputs();
  return made;
}

bool is_allowed(const Variant& variant) {
  bool allowed = true;
  const Report refuse = [&](const Error&) { allowed = false; };
  check_node(variant.node(), nullptr, refuse);
  Types types;
  for (const std::string& name : variant.node().inputs) types.push_back(variant.type_of(name));
  if (allowed) bind_types(variant.node(), types, refuse);
  return allowed;
}

// True if the node has a tuned kernel, is a view, or is computed when planned.
bool is_fast(const Variant& variant, const Limits& limits) {
  if (!is_allowed(variant)) return false;
  try {
    const AnalyzedGraph graph(variant.model, variant.feeds, PlanOptions{.limits = limits});
    if (graph.node(0).broken) return false;
    const std::vector<Group> groups = group_nodes(graph, true);
    return std::none_of(groups.begin(), groups.end(), [](const Group& group) {
      return group.kind == GroupKind::reference || group.kind == GroupKind::row_kernel;
    });
  } catch (const Error& error) {
    if (error.kind == ErrorKind::internal || error.kind == ErrorKind::cancelled) throw;
    return false;
  }
}

std::string written(const Attribute& attribute) {
  if (const auto* number = std::get_if<Index>(&attribute.is))
    return " = " + std::to_string(*number);
  const auto* const text = std::get_if<std::string>(&attribute.is);
  constexpr std::size_t most = 40;
  return text && text->size() <= most ? " = " + *text : "";
}

class Search {
 public:
  Search(const AnalyzedGraph& graph, Index index, const Limits& limits)
      : limits_(limits),
        start_(alone(graph, index)),
        signature_(*graph.node(index).node->signature) {}

  std::string reason() const {
    if (std::string found = of_facts(start_); !found.empty()) return found;
    for (const auto& [constraint, element] : other_types()) {
      const Variant other = in_float32(constraint);
      const std::string types = "no fast kernel for " + std::string(name(element));
      if (is_fast(other, limits_)) return types + ", only for float";
      if (std::string found = of_facts(other); !found.empty()) return types + "; " + found;
    }
    return "no fast kernel for " + described();
  }

 private:
  // Tries each change but that of element types.
  std::string of_facts(const Variant& from) const {
    if (knows_more_sizes(from)) return "a size is known only at run time";
    for (const auto& [name, attribute] : from.node().attributes) {
      Variant other = from;
      other.node().attributes.erase(name);
      if (is_fast(other, limits_)) return "attribute '" + name + "'" + written(attribute);
    }
    for (std::size_t k = from.node().inputs.size(); k-- > 0;) {
      const std::string& input = from.node().inputs[k];
      const ParameterSpec* const spec = parameter_at(signature_.inputs, k);
      if (input.empty() || !spec) continue;
      const std::string what = "input '" + std::string(spec->name) + "' is ";
      if (spec->optional && is_fast(without_input(from, k), limits_)) return what + "given";
      Variant other = from;
      if (hold(other, input) && is_fast(other, limits_)) return what + "computed, not constant";
    }
    for (std::size_t k = from.node().outputs.size(); k-- > 1;) {
      Variant other = from;
      other.node().outputs.resize(k);
      other.declare_outputs();
      const ParameterSpec* const spec = parameter_at(signature_.outputs, k);
      if (spec && is_fast(other, limits_))
        return "output '" + std::string(spec->name) + "' is read";
    }
    return "";
  }

  // Tries sizes for the inputs that have none, one rank after the other.
  bool knows_more_sizes(const Variant& from) const {
    Variant other = from;
    std::vector<std::string> open;
    for (const ValueInfo& input : from.model.graph.inputs) {
      const bool is_tensor = input.type && input.type->kind == ValueType::Kind::tensor;
      if (is_tensor && !from.feeds.contains(input.name)) open.push_back(input.name);
    }
    for (Index rank = max_guessed_rank; rank >= 0 && !open.empty(); --rank) {
      for (const std::string& name : open) other.feeds[name] = Shape(rank, guessed_size);
      if (is_fast(other, limits_)) return true;
    }
    return false;
  }

  static Variant without_input(Variant variant, std::size_t k) {
    std::vector<std::string>& inputs = variant.node().inputs;
    inputs[k].clear();
    while (!inputs.empty() && inputs.back().empty()) inputs.pop_back();
    return variant;
  }

  // Makes an input a constant of zeros; false if it is one, or has no known size.
  static bool hold(Variant& variant, const std::string& name) {
    const auto shape = variant.feeds.find(name);
    const ValueInfo* const input = variant.input(name);
    if (shape == variant.feeds.end() || input == nullptr || !input->type) return false;
    const bool is_plain = input->type->kind == ValueType::Kind::tensor &&
                          input->type->element != Type::string &&
                          count(shape->second) <= max_constant;
    std::vector<ValueInfo>& inputs = variant.model.graph.inputs;
    if (!is_plain || inputs.size() < 2) return false;  // without an input it would be folded
    variant.model.graph.initializers.emplace(name, Tensor(input->type->element, shape->second));
    variant.feeds.erase(shape);
    std::erase_if(inputs, [&](const ValueInfo& each) { return each.name == name; });
    return true;
  }

  // Type constraints of the inputs, each with an element type that is not float32.
  std::vector<std::pair<std::string_view, Type>> other_types() const {
    std::vector<std::pair<std::string_view, Type>> found;
    for (std::size_t k = 0; k < start_.node().inputs.size(); ++k) {
      const ParameterSpec* const spec = parameter_at(signature_.inputs, k);
      const std::optional<ValueType> type = start_.type_of(start_.node().inputs[k]);
      if (!spec || !type || type->kind != ValueType::Kind::tensor) continue;
      if (type->element == Type::float32) continue;
      if (std::none_of(found.begin(), found.end(),
                       [&](const auto& each) { return each.first == spec->type; }))
        found.emplace_back(spec->type, type->element);
    }
    return found;
  }

  Variant in_float32(std::string_view constraint) const {
    Variant other = start_;
    for (std::size_t k = 0; k < start_.node().inputs.size(); ++k) {
      const ParameterSpec* const spec = parameter_at(signature_.inputs, k);
      if (!spec || spec->type != constraint) continue;
      const std::string& name = start_.node().inputs[k];
      if (ValueInfo* const input = other.input(name)) input->type = tensor_type(Type::float32);
      const auto held = other.model.graph.initializers.find(name);
      if (held != other.model.graph.initializers.end() && held->second.size() <= max_constant)
        held->second = Tensor(Type::float32, held->second.shape());
    }
    return other;
  }

  // "Einsum-12 of float[1,10], float[10]".
  std::string described() const {
    std::string text =
        operator_name(signature_.domain, signature_.op) + "-" + std::to_string(signature_.since);
    std::string separator = " of ";
    for (const std::string& input : start_.node().inputs) {
      if (input.empty()) continue;
      const std::optional<ValueType> type = start_.type_of(input);
      const bool is_tensor = type && type->kind == ValueType::Kind::tensor;
      text += separator + (is_tensor ? std::string(name(type->element))
                           : type    ? touchstone::text(*type)
                                     : "an unknown type");
      const auto held = start_.model.graph.initializers.find(input);
      const auto fed = start_.feeds.find(input);
      if (held != start_.model.graph.initializers.end())
        text += touchstone::text(held->second.shape());
      else if (fed != start_.feeds.end())
        text += touchstone::text(fed->second);
      separator = ", ";
    }
    return text;
  }

  const Limits& limits_;
  const Variant start_;
  const Signature& signature_;
};

}  // namespace

std::string why_slow(const AnalyzedGraph& graph, Index node, const Limits& limits) {
  const AnalyzedNode& fact = graph.node(node);
  if (fact.node->signature == nullptr) return "it calls a function of the model";
  if (fact.broken) return "it violates a rule, which the reference reports";
  if (!subgraphs_of(*fact.node).empty()) return "its subgraphs need the interpreter";
  for (const Index input : fact.inputs) {
    if (input != no_value && !graph.value(input).type) return "a type is known only at run time";
  }
  return Search(graph, node, limits).reason();
}

}  // namespace touchstone::optimized
