// Simpler graphs, and the line of a graph of one node. Values that a removed node made become
// inputs, fed with what the reference computes for them.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "conformance/compare/rewrite.h"
#include "core/budget.h"
#include "core/error.h"
#include "core/json.h"
#include "core/numbers/convert.h"
#include "fuzz/line_text.h"
#include "fuzz/reduce.h"
#include "fuzz/runner.h"
#include "model/model.h"
#include "model/scopes.h"
#include "reference/interpreter.h"

namespace touchstone::fuzz {
namespace {

class SimplerGraph {
 public:
  explicit SimplerGraph(const Case& one) : case_(one) {
    for (std::size_t k = 0; k < case_.model.graph.nodes.size(); ++k)
      case_.model.graph.nodes[k].index = static_cast<Index>(k);
  }

  std::vector<Case> all() {
    compute_values();
    keep_one_run();
    keep_what_one_output_needs();
    keep_nodes();
    keep_one_output();
    bypass_nodes();
    leave_out_attributes();
    shrink_sizes();
    plain_values();
    return std::move(made_);
  }

 private:
  std::size_t count() const { return case_.model.graph.nodes.size(); }

  // Computes every value of the main graph for each set of feeds, by the reference.
  void compute_values() {
    try {
      const Budget budget(limits_of_case());
      const LimitsScope scope(limits_of_case());
      Model model = case_.model;
      require_valid(model, limits_of_case());
      const Model tapped =
          compare::with_taps(model, compare::hidden_values(model), compare::types_of_values(model));
      for (const Feeds& feeds : case_.feeds) {
        Feeds values = run(tapped, feeds, RunOptions{limits_of_case(), {}});
        values.insert(feeds.begin(), feeds.end());
        values_.push_back(std::move(values));
      }
    } catch (const Error&) {  // an invalid case keeps its nodes
      values_.clear();
    }
  }

  // Adds the case of these nodes, with one output if it is named.
  void add_nodes(const std::set<Index>& nodes, const std::string& output = "") {
    if (values_.empty() || nodes.empty() || nodes.size() >= count()) return;
    try {
      Case cut = case_;
      cut.model = compare::cut_out(case_.model, nodes, values_.front());
      Graph& graph = cut.model.graph;
      std::set<std::string> shown, used;
      for (const ValueInfo& output : case_.model.graph.outputs) shown.insert(output.name);
      for (const Node& node : graph.nodes) {
        for (const std::string& name : names_used(node)) used.insert(name);
      }
      std::erase_if(graph.outputs, [&](const ValueInfo& one) {
        return output.empty() ? used.contains(one.name) && !shown.contains(one.name)
                              : one.name != output;
      });
      for (ValueInfo& input : graph.inputs) declare(input);
      for (std::size_t k = 0; k < cut.feeds.size(); ++k) {
        cut.feeds[k].clear();
        for (const ValueInfo& input : graph.inputs) {
          if (const auto value = values_[k].find(input.name); value != values_[k].end())
            cut.feeds[k].emplace(*value);
        }
      }
      add(std::move(cut));
    } catch (const Error&) {  // a value is not known
    }
  }

  // An input keeps its declaration. A value that becomes one has the sizes that are those of all
  // runs.
  void declare(ValueInfo& input) const {
    const std::vector<ValueInfo>& inputs = case_.model.graph.inputs;
    const auto was = std::find_if(inputs.begin(), inputs.end(),
                                  [&](const ValueInfo& one) { return one.name == input.name; });
    if (was != inputs.end()) {
      input = *was;
    } else if (input.shape) {
      for (const Feeds& values : values_) {
        const auto at = values.find(input.name);
        if (at == values.end() || !at->second.is_tensor()) return input.shape.reset();
        const Shape& shape = at->second.tensor().shape();
        if (shape.size() != static_cast<Index>(input.shape->size())) return input.shape.reset();
        for (std::size_t d = 0; d < input.shape->size(); ++d) {
          Dim& dim = (*input.shape)[d];
          if (dim.size && *dim.size != shape[static_cast<Index>(d)]) dim = {};
        }
      }
    }
  }

  void add(Case changed) {
    std::string nodes;
    for (const Node& node : changed.model.graph.nodes) {
      if (nodes.size() < 200) nodes += (nodes.empty() ? "" : ", ") + node.op;
    }
    changed.text = fmt::format("{} nodes: {}", changed.model.graph.nodes.size(), nodes);
    changed.covered.clear();
    made_.push_back(std::move(changed));
  }

  void keep_what_one_output_needs() {
    for (const ValueInfo& output : case_.model.graph.outputs) {
      std::set<std::string> needed{output.name};
      std::set<Index> kept;
      const std::vector<Node>& nodes = case_.model.graph.nodes;
      for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
        const auto is_needed = [&](const std::string& name) { return needed.contains(name); };
        if (std::none_of(node->outputs.begin(), node->outputs.end(), is_needed)) continue;
        kept.insert(node->index);
        for (const std::string& name : names_used(*node)) needed.insert(name);
      }
      add_nodes(kept, output.name);
    }
  }

  // Leaves out a node, and gives one of its inputs to those that read its output.
  void bypass_nodes() {
    for (std::size_t k = 0; k < count() && !values_.empty(); ++k) {
      const Node& node = case_.model.graph.nodes[k];
      const std::string& made = node.outputs.front();
      for (const std::string& given : node.inputs) {
        if (made.empty() || given.empty() || type_of(made) != type_of(given)) continue;
        Case changed = case_;
        Graph& graph = changed.model.graph;
        graph.nodes.erase(graph.nodes.begin() + static_cast<std::ptrdiff_t>(k));
        for (Node& other : graph.nodes)
          std::replace(other.inputs.begin(), other.inputs.end(), made, given);
        if (reads_what_is_not_there(changed.model, node)) continue;
        forget_shapes(graph);
        add(std::move(changed));
      }
    }
  }

  std::optional<ValueType> type_of(const std::string& name) const {
    if (const auto at = values_.front().find(name); at != values_.front().end())
      return at->second.type();
    const auto& held = case_.model.graph.initializers;
    const auto at = held.find(name);
    return at == held.end() ? std::nullopt : std::optional(tensor_type(at->second.type()));
  }

  static void forget_shapes(Graph& graph) {
    graph.values.clear();
    for (ValueInfo& output : graph.outputs) output.shape.reset();
  }

  static bool reads_what_is_not_there(const Model& model, const Node& gone) {
    std::set<std::string> used;
    for (const Node& node : model.graph.nodes) {
      for (const std::string& name : names_used(node)) used.insert(name);
    }
    for (const ValueInfo& output : model.graph.outputs) used.insert(output.name);
    return std::any_of(gone.outputs.begin(), gone.outputs.end(),
                       [&](const std::string& name) { return used.contains(name); });
  }

  // One node alone, then ever smaller parts left out.
  void keep_nodes() {
    const auto size = static_cast<Index>(count());
    for (Index k = 0; k < size; ++k) add_nodes({k});
    for (Index part = size / 2; part > 0; part /= 2) {
      for (Index from = 0; from < size; from += part) {
        std::set<Index> kept;
        for (Index k = 0; k < size; ++k) {
          if (k < from || k >= from + part) kept.insert(k);
        }
        add_nodes(kept);
      }
    }
  }

  void keep_one_output() {
    const std::vector<ValueInfo>& outputs = case_.model.graph.outputs;
    for (std::size_t k = 0; outputs.size() > 1 && k < outputs.size(); ++k) {
      Case changed = case_;
      changed.model.graph.outputs = {outputs[k]};
      add(std::move(changed));
    }
  }

  void keep_one_run() {
    for (std::size_t k = 0; case_.feeds.size() > 1 && k < case_.feeds.size(); ++k) {
      Case changed = case_;
      changed.feeds.erase(changed.feeds.begin() + static_cast<std::ptrdiff_t>(k));
      add(std::move(changed));
    }
  }

  void leave_out_attributes() {
    for (std::size_t k = 0; k < count(); ++k) {
      for (const auto& [name, attribute] : case_.model.graph.nodes[k].attributes) {
        Case changed = case_;
        changed.model.graph.nodes[k].attributes.erase(name);
        add(std::move(changed));
      }
    }
  }

  // Cuts each input to a smaller extent wherever one size occurs.
  void shrink_sizes() {
    std::set<Index, std::greater<>> sizes;
    for (const Feeds& feeds : case_.feeds) {
      for (const auto& [name, value] : feeds) {
        if (value.is_tensor())
          for (const Index size : value.tensor().shape()) sizes.insert(size);
      }
    }
    for (const Index size : sizes) {
      for (const Index smaller : std::set<Index>{1, 2, 3, 4, size / 2}) {
        if (smaller < 1 || smaller >= size) continue;
        Case changed = case_;
        for (Feeds& feeds : changed.feeds) {
          for (auto& [name, value] : feeds)
            if (value.is_tensor()) value = cut(value.tensor(), size, smaller);
        }
        for (ValueInfo& input : changed.model.graph.inputs) {
          if (!input.shape) continue;
          for (Dim& dim : *input.shape)
            if (dim.size == size) dim.size = smaller;
        }
        forget_shapes(changed.model.graph);
        add(std::move(changed));
      }
    }
  }

  static Tensor cut(const Tensor& from, Index size, Index smaller) {
    Shape shape = from.shape();
    for (Index& extent : shape)
      if (extent == size) extent = smaller;
    Tensor made(from.type(), shape);
    for (Index k = 0; k < made.size(); ++k) copy_element(from, k % from.size(), made, k);
    return made;
  }

  static void copy_element(const Tensor& from, Index at, Tensor& to, Index k) {
    if (from.type() == Type::string) {
      to.data<std::string>()[k] = from.data<std::string>()[at];
    } else if (!facts(from.type()).is_complex) {
      set_code(to, k, code_at(from, at));
    }
  }

  void plain_values() {
    for (const int number : {0, 1}) {
      for (std::size_t k = 0; k < case_.feeds.size(); ++k) {
        for (const auto& [name, value] : case_.feeds[k]) {
          if (!value.is_tensor() || value.tensor().type() == Type::string ||
              facts(value.tensor().type()).is_complex || is_plain(value.tensor()))
            continue;
          Tensor plain(value.tensor().type(), value.tensor().shape());
          for (Index i = 0; i < plain.size(); ++i) set_number(plain, i, number);
          Case changed = case_;
          changed.feeds[k][name] = plain;
          add(std::move(changed));
        }
      }
    }
  }

  static bool is_plain(const Tensor& tensor) {
    for (Index k = 0; k < tensor.size(); ++k) {
      const long double number = number_at(tensor, k);
      if (number != number_at(tensor, 0) || (number != 0 && number != 1)) return false;
    }
    return true;
  }

  Case case_;
  std::vector<Feeds> values_;  // all values, for each set of feeds
  std::vector<Case> made_;
};

std::string tensor_text(const Tensor& tensor) {
  std::vector<std::string> dims;
  for (const Index size : tensor.shape()) dims.push_back(std::to_string(size));
  return std::string(name(tensor.type())) + list_of(dims, '[', ']') + elements_of(tensor);
}

// Returns "" for a payload that a line cannot hold.
std::string attribute_text(const Attribute::Payload& payload) {
  using Json = nlohmann::ordered_json;
  const auto listed = [](const auto& items, const auto& of) {
    std::vector<std::string> texts;
    for (const auto& item : items) texts.push_back(of(item));
    return list_of(texts, '[', ']');
  };
  const auto plain = [](const auto& number) { return fmt::format("{}", number); };
  const auto quoted = [](const std::string& text) { return Json(text).dump(); };
  if (const auto* one = std::get_if<Index>(&payload)) return plain(*one);
  if (const auto* one = std::get_if<float>(&payload)) return plain(*one);
  if (const auto* one = std::get_if<std::string>(&payload)) return quoted(*one);
  if (const auto* one = std::get_if<Tensor>(&payload)) return tensor_text(*one);
  if (const auto* one = std::get_if<ValueType>(&payload)) return quoted(text(*one));
  if (const auto* all = std::get_if<std::vector<Index>>(&payload)) return listed(*all, plain);
  if (const auto* all = std::get_if<std::vector<float>>(&payload)) return listed(*all, plain);
  if (const auto* all = std::get_if<std::vector<std::string>>(&payload))
    return listed(*all, quoted);
  return "";
}

}  // namespace

std::vector<Case> simpler_graphs(const Case& one) { return SimplerGraph(one).all(); }

std::string line_of(const Case& one) {
  if (one.model.graph.nodes.size() != 1 || one.feeds.size() != 1) return "";
  Model model = one.model;
  try {
    resolve(model);
  } catch (const Error&) {
    return "";
  }
  const Graph& graph = model.graph;
  const Node& node = graph.nodes.front();
  if (!node.signature) return "";
  LineText line;
  line.head = fmt::format("{}{}{}-{}", node.domain, node.domain.empty() ? "" : ".", node.op,
                          node.signature->since);
  for (const std::string& name : node.inputs) {
    const auto held = graph.initializers.find(name);
    const auto fed = one.feeds.front().find(name);
    if (name.empty()) {
      line.ports.emplace_back("_");
    } else if (fed != one.feeds.front().end() && fed->second.is_tensor()) {
      line.ports.push_back(tensor_text(fed->second.tensor()));
    } else if (held != graph.initializers.end()) {
      line.ports.push_back("*" + tensor_text(held->second));
    } else {
      return "";
    }
  }
  for (const auto& [name, attribute] : node.attributes) {
    const std::string value = attribute_text(attribute.is);
    if (value.empty()) return "";
    line.attributes.emplace_back(name, value);
  }
  for (const std::string& output : node.outputs) line.outputs += output.empty() ? '_' : 'x';
  line.rule = one.refused;
  return join_line(line);
}

}  // namespace touchstone::fuzz
