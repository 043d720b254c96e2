// Lowering of float16 and bfloat16 to float32. Plans fuse the pair of casts after a node into the
// kernel before it, as a rounding (optimized/plan/parts.h).
#include "optimized/lowering/half_precision.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "core/numbers/convert.h"
#include "core/numbers/formats.h"
#include "model/scopes.h"
#include "transform/optimize/mutable_graph.h"

namespace touchstone::optimized {
namespace {

constexpr Index numbered_casts = 6;  // the first opset whose Cast names its type by number

constexpr std::string_view forms[] = {"elementwise", "reduce",    "contract", "normalise", "window",
                                      "move",        "recurrent", "resample", "quantise"};
// Their results depend on the type of an input, and not on its elements alone; or, as TopK, they
// have kernels of their own for 16 bits.
constexpr std::string_view typed[] = {"BitCast", "CastLike", "Range", "TopK"};
// Each element of their results is an element of an input, or its negative.
constexpr std::string_view selections[] = {
    "Abs",       "GlobalMaxPool", "Identity", "Max",  "MaxPool", "Min",   "Neg", "ReduceMax",
    "ReduceMin", "Relu",          "Where",    "Ceil", "Floor",   "Round", "Sign"};

// Moves that read a part of an input, or copy one beside others: cheaper on 16 bits than a
// conversion of the whole input.
constexpr std::string_view parts[] = {"Compress",        "Concat",       "Gather", "GatherElements",
                                      "GatherND",        "ScatterND",    "Slice",  "Split",
                                      "ScatterElements", "TensorScatter"};

template <std::size_t n>
bool contains(const std::string_view (&list)[n], std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

bool is_half(Type type) { return type == Type::float16 || type == Type::bfloat16; }

const ParameterSpec& parameter(std::span<const ParameterSpec> all, std::size_t k) {
  return all[std::min(k, all.size() - 1)];
}

class Lowering {
 public:
  Lowering(Model model, const transform::PassOptions& options)
      : numbered_(model.opsets.at("") >= numbered_casts), graph_(std::move(model), options) {}

  Model lowered() {
    for (auto at = graph_.nodes().begin(); at != graph_.nodes().end();) {
      const auto next = std::next(at);
      note_types(*at);
      if (!is_widening(*at)) {
        if (is_lowered(*at)) lower(at);
      } else if (!shares_twin(at)) {
        twins_.emplace(at->inputs[0], at->outputs[0]);
      }
      at = next;
    }
    for (auto cast = casts_.rbegin(); cast != casts_.rend(); ++cast) {
      if (graph_.uses((*cast)->outputs[0]) == 0) graph_.erase(*cast);
    }
    for (const auto& [name, twin] : twins_) {
      if (graph_.constant(name) != nullptr && graph_.uses(name) == 0) graph_.drop_constant(name);
    }
    return graph_.finish();
  }

 private:
  // Returns the element type of a tensor, as far as inference knows it.
  std::optional<Type> element(const std::string& value) {
    if (const Tensor* const constant = graph_.constant(value)) return constant->type();
    if (const auto found = types_.find(value); found != types_.end()) return found->second;
    const transform::KnownValue* const known = graph_.known(value);
    if (known == nullptr || !known->type || known->type->kind != ValueType::Kind::tensor)
      return std::nullopt;
    return known->type->element;
  }
  bool is_half_tensor(const std::string& value) {
    const std::optional<Type> type = element(value);
    return type && is_half(*type);
  }

  // True for a cast of 16 bits to float32.
  bool is_widening(const Node& node) {
    return node.signature != nullptr && node.signature->domain.empty() &&
           node.signature->op == "Cast" && is_half_tensor(node.inputs[0]) &&
           element(node.outputs[0]) == Type::float32;
  }
  // Erases a widening whose result exists already. Returns false if there is none, or if the node
  // must keep its output.
  bool shares_twin(transform::MutableGraph::Place at) {
    const auto found = twins_.find(at->inputs[0]);
    const std::string& output = at->outputs[0];
    if (found == twins_.end() || graph_.is_output(output) || graph_.is_captured(output))
      return false;
    graph_.replace_value(output, found->second);
    graph_.erase(at);
    return true;
  }

  static bool takes_floats(const Signature& signature, std::string_view constraint) {
    for (const ConstraintSpec& spec : signature.types) {
      if (spec.name != constraint) continue;
      return std::find(spec.types.begin(), spec.types.end(), "tensor(float)") != spec.types.end();
    }
    return false;
  }

  // Notes the types of outputs that inference does not know, as fed numbers decide their shapes: a
  // type parameter has one type in a node.
  void note_types(const Node& node) {
    if (node.signature == nullptr || !subgraphs_of(node).empty()) return;
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
      if (node.outputs[k].empty() || element(node.outputs[k])) continue;
      const std::string_view made = parameter(node.signature->outputs, k).type;
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        if (node.inputs[i].empty() || parameter(node.signature->inputs, i).type != made) continue;
        if (const std::optional<Type> type = element(node.inputs[i]))
          types_.emplace(node.outputs[k], *type);
      }
    }
  }

  // True for an Attention that rounds values, a mask or a past to the 16 bits of its queries.
  bool narrows_operands(const Node& node) {
    if (node.signature->op != "Attention" || !is_half_tensor(node.inputs[0])) return false;
    constexpr std::size_t operands = 6;
    const std::optional<Type> queries = element(node.inputs[0]);
    return std::any_of(
        node.inputs.begin(),
        node.inputs.begin() + static_cast<std::ptrdiff_t>(std::min(node.inputs.size(), operands)),
        [&](const std::string& input) {
          if (input.empty()) return false;
          const std::optional<Type> type = element(input);
          return type != queries && type != Type::boolean;
        });
  }

  // True for a move that stays on 16 bits: no lowered node made its elements in float32, and it
  // moves a part of them or makes outputs alone.
  bool stays_narrow(const Node& node) {
    if (node.signature->form != "move" || node.attributes.contains("reduction")) return false;
    const auto is_read = [&](const std::string& output) {
      return !output.empty() && (graph_.uses(output) > 0 || !graph_.is_output(output));
    };
    if (!contains(parts, node.signature->op) &&
        std::any_of(node.outputs.begin(), node.outputs.end(), is_read))
      return false;
    return std::any_of(node.inputs.begin(), node.inputs.end(), [&](const std::string& input) {
      return !input.empty() && is_half_tensor(input) && graph_.constant(input) == nullptr &&
             !twins_.contains(input) && !computed_.contains(input);
    });
  }

  // True if float32 may take the place of the node's 16-bit types: its inputs determine each of
  // them.
  bool is_lowered(const Node& node) {
    const Signature* const signature = node.signature;
    if (signature == nullptr || !signature->domain.empty()) return false;
    if (!contains(forms, signature->form) || contains(typed, signature->op)) return false;
    if (signature->kind == "random" || !subgraphs_of(node).empty()) return false;
    std::vector<std::string_view> bound;
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      if (node.inputs[k].empty()) continue;
      if (!element(node.inputs[k])) return false;
      if (!is_half_tensor(node.inputs[k])) continue;
      const ParameterSpec& spec = parameter(signature->inputs, k);
      if (!takes_floats(*signature, spec.type)) return false;
      bound.push_back(spec.type);
    }
    if (bound.empty() || narrows_operands(node) || stays_narrow(node)) return false;
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
      if (node.outputs[k].empty()) continue;
      const std::optional<Type> made = element(node.outputs[k]);
      if (!made || *made == Type::string) return false;  // a text shows as many digits as its type
      if (!is_half_tensor(node.outputs[k])) continue;
      const std::string_view type = parameter(signature->outputs, k).type;
      if (std::find(bound.begin(), bound.end(), type) == bound.end()) return false;
    }
    return true;
  }

  void lower(transform::MutableGraph::Place at) {
    const Signature& signature = *at->signature;
    const bool keeps_elements = signature.form == "move" || contains(selections, signature.op);
    Node node = *at;
    constexpr int clamps_by_operands = 11;
    if (signature.op == "Clip" && signature.since >= clamps_by_operands)
      add_bounds(node, *element(node.inputs[0]));
    for (std::string& input : node.inputs) {
      if (!input.empty() && is_half_tensor(input)) input = twin_of(input, at);
    }
    std::vector<std::pair<std::string, std::string>> made;  // names of float32, of 16 bits
    for (std::string& output : node.outputs) {
      if (output.empty() || !is_half_tensor(output)) continue;
      const std::string name = output;
      output = graph_.fresh(name + "_float32");
      made.emplace_back(output, name);
    }
    const transform::MutableGraph::Place after = graph_.erase(at);
    graph_.insert(after, std::move(node));
    for (const auto& [wide, half] : made) {
      add_cast(after, wide, half, *element(half));
      computed_.insert(half);
      if (keeps_elements) twins_[half] = wide;
    }
  }

  // Adds the bounds that a clamp omits: the numbers at the ends of its own type.
  void add_bounds(Node& node, Type half) {
    node.inputs.resize(3);
    for (const std::size_t k : {1, 2}) {
      if (!node.inputs[k].empty()) continue;
      Tensor bound(Type::float32, {});
      set_number(bound, 0, (k == 1 ? -1 : 1) * format_of(half).largest);
      node.inputs[k] = graph_.fresh(node.outputs[0] + "_bound");
      graph_.add_constant(node.inputs[k], std::move(bound));
    }
  }

  // Returns the float32 value of the same numbers; adds a cast before `at`, or a constant.
  std::string twin_of(const std::string& value, transform::MutableGraph::Place at) {
    if (const auto found = twins_.find(value); found != twins_.end()) return found->second;
    const std::string twin = graph_.fresh(value + "_widened");
    const Tensor* const constant = graph_.constant(value);
    const Index bytes = constant ? constant->size() * Index{sizeof(float)} : 0;
    if (constant && graph_.reserve_bytes(bytes)) {
      Tensor made(Type::float32, constant->shape());
      convert(*constant, made);
      graph_.add_constant(twin, std::move(made));
    } else {
      add_cast(at, value, twin, Type::float32);
    }
    return twins_[value] = twin;
  }

  void add_cast(transform::MutableGraph::Place before, const std::string& from,
                const std::string& to, Type type) {
    Node cast;
    cast.op = "Cast";
    cast.inputs = {from};
    cast.outputs = {to};
    if (numbered_)
      cast.attributes["to"] = {static_cast<Index>(type), ""};
    else
      cast.attributes["to"] = {std::string(type == Type::float32 ? "FLOAT" : "FLOAT16"), ""};
    casts_.push_back(graph_.insert(before, std::move(cast)));
  }

  const bool numbered_;
  transform::MutableGraph graph_;
  std::vector<transform::MutableGraph::Place> casts_;
  std::unordered_map<std::string, std::string> twins_;
  std::unordered_set<std::string> computed_;     // outputs of lowered nodes, of 16 bits
  std::unordered_map<std::string, Type> types_;  // of values that inference does not know
};

bool has_half(const Graph& graph) {
  const auto is = [](const std::optional<ValueType>& type) {
    return type && type->kind == ValueType::Kind::tensor && is_half(type->element);
  };
  return std::any_of(graph.inputs.begin(), graph.inputs.end(),
                     [&](const ValueInfo& input) { return is(input.type); }) ||
         std::any_of(graph.initializers.begin(), graph.initializers.end(),
                     [](const auto& entry) { return is_half(entry.second.type()); }) ||
         std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) {
           const auto to = node.attributes.find("to");
           const Index* const type =
               to == node.attributes.end() ? nullptr : std::get_if<Index>(&to->second.is);
           return type && is_half(static_cast<Type>(*type));
         });
}

}  // namespace

Model lower_half_precision(Model model, const transform::PassOptions& options) {
  const auto opset = model.opsets.find("");
  if (opset == model.opsets.end() || !has_half(model.graph)) return model;
  transform::PassOptions own = options;
  own.checked = false;  // types alone are read, and they depend on no size
  return Lowering(std::move(model), own).lowered();
}

std::optional<HalfRounding> half_rounding(const AnalyzedGraph& graph, Index node) {
  const auto casts = [&](const AnalyzedNode& fact) {
    const Signature* const signature = fact.node->signature;
    return signature != nullptr && signature->domain.empty() && signature->op == "Cast" &&
           !fact.broken && !fact.folded;
  };
  const AnalyzedNode& first = graph.node(node);
  if (!casts(first)) return std::nullopt;
  const AnalyzedValue& half = graph.value(first.outputs[0]);
  const Type type = half.is(Type::float16)    ? Type::float16
                    : half.is(Type::bfloat16) ? Type::bfloat16
                                              : Type::undefined;
  if (type == Type::undefined || half.output || half.users.size() != 1) return std::nullopt;
  const AnalyzedNode& second = graph.node(half.users.front());
  if (!casts(second) || second.inputs[0] != first.outputs[0]) return std::nullopt;
  if (!graph.value(first.inputs[0]).floats() || !graph.value(second.outputs[0]).floats())
    return std::nullopt;
  return HalfRounding{type, half.users.front(), second.outputs[0]};
}

}  // namespace touchstone::optimized
