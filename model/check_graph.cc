// Checks a graph in one pass over its nodes in file order. Each used name must be defined by then,
// each defined name must be new, and types propagate from inputs to outputs.
#include "model/check_graph.h"

#include <algorithm>

#include "core/budget_watch.h"
#include "model/model.h"
#include "model/place.h"
#include "model/rules.h"
#include "model/scopes.h"

namespace touchstone {
namespace {

std::string label(const Node& node) {
  return node.name.empty() ? "#" + std::to_string(node.index) + " (" + node.op + ")"
                           : "'" + node.name + "'";
}

class Pass {
 public:
  Pass(const std::vector<Node>& nodes, const Names* outer, const DeclaredAttributes* around,
       const Model& model, std::string path, const Report& report)
      : nodes_(nodes), around_(around), model_(model), path_(std::move(path)), report_(report) {
    names_.outer = outer;
    for (const Node& node : nodes) {
      for (const std::string& output : node.outputs) {
        if (!output.empty()) names_.later.insert(output);
      }
    }
  }

  void declare(const ValueInfo& value) {
    if (value.type) declared_.emplace(value.name, *value.type);
  }

  void define(const std::string& name, const std::optional<ValueType>& type,
              const std::string& place) {
    names_.later.erase(name);
    const bool taken = names_.find(name) != nullptr;
    if (taken)
      report_(breach("model/ssa", "the value '" + name + "' is defined before").with_place(place));
    names_.defined.emplace(name, type);
  }

  void walk() {
    BudgetWatch watch;
    for (const Node& node : nodes_) {
      watch.step();
      visit(node);
    }
    report_order();
  }

  void close(const ValueInfo& output) {
    const std::string place = "output '" + output.name + "', " + graph_place(path_);
    if (output.name.empty())
      return report_(breach("model/name-empty", "an output has no name").with_place(place));
    const auto found = names_.defined.find(output.name);
    if (found == names_.defined.end()) {
      return report_(
          breach("model/output-undefined", "the graph does not produce '" + output.name + "'")
              .with_place(place));
    }
    compare(output.name, found->second, output.type, place);
  }

 private:
  struct Early {
    const Node* node;
    std::string name;
  };

  void compare(const std::string& name, const std::optional<ValueType>& known,
               const std::optional<ValueType>& declared, const std::string& place) {
    if (!known || !declared || *known == *declared) return;
    report_(breach("model/type-declared",
                   "'" + name + "' is declared as " + text(*declared) + ", but is " + text(*known))
                .with_place(place));
  }

  bool comes_later(const std::string& name) const {
    for (const Names* names = &names_; names != nullptr; names = names->outer) {
      if (names->later.count(name) > 0) return true;
    }
    return false;
  }

  void visit(const Node& node) {
    const Report here = [&](Error error) {
      if (error.place.empty()) error.place = place_of(node, path_);
      report_(std::move(error));
    };
    Types inputs;
    for (const std::string& name : node.inputs) {
      inputs.emplace_back();
      if (name.empty()) continue;
      if (const std::optional<ValueType>* known = names_.find(name)) {
        inputs.back() = *known;
      } else if (comes_later(name)) {
        early_.push_back({&node, name});
      } else {
        here(breach("model/undefined-name", "the value '" + name + "' is not defined"));
      }
    }
    check_node(node, around_, here);
    for (const Subgraph& inner : subgraphs_of(node)) {
      check_graph(*inner.graph, &names_, around_, model_, subgraph_path(path_, node, inner.name),
                  report_);
    }
    const Types outputs = bind_types(node, inputs, here);
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
      const std::string& name = node.outputs[k];
      if (name.empty()) continue;
      std::optional<ValueType> type = outputs[k];
      if (const auto found = declared_.find(name); found != declared_.end()) {
        compare(name, type, found->second, place_of(node, path_));
        if (!type) type = found->second;
      }
      define(name, type, place_of(node, path_));
    }
  }

  // Reports uses before definitions: as a cycle if there is one, else as wrong order.
  void report_order() {
    if (early_.empty()) return;
    const std::vector<std::size_t> cycle = find_cycle(nodes_);
    if (cycle.empty()) {
      for (const Early& early : early_) {
        report_(breach("model/order", "the value '" + early.name + "' is used before it is defined")
                    .with_place(place_of(*early.node, path_)));
      }
      return;
    }
    constexpr std::size_t shown = 16;
    std::string chain;
    for (std::size_t k = 0; k < std::min(cycle.size(), shown); ++k)
      chain += label(nodes_[cycle[k]]) + " -> ";
    if (cycle.size() > shown) chain += "(" + std::to_string(cycle.size() - shown) + " more) -> ";
    const Node& first = nodes_[cycle.front()];
    report_(breach("model/cycle", "each of these nodes needs the next: " + chain + label(first))
                .with_place(place_of(first, path_)));
  }

  const std::vector<Node>& nodes_;
  const DeclaredAttributes* around_;
  const Model& model_;
  std::string path_;
  const Report& report_;
  Names names_;
  std::unordered_map<std::string, ValueType> declared_;
  std::vector<Early> early_;
};

using Inputs = std::unordered_map<std::string_view, const ValueInfo*>;  // by name

bool fits(const Shape& shape, const std::vector<Dim>& declared) {
  if (static_cast<std::size_t>(shape.size()) != declared.size()) return false;
  for (Index d = 0; d < shape.size(); ++d) {
    const std::optional<Index>& size = declared[static_cast<std::size_t>(d)].size;
    if (size && *size != shape[d]) return false;
  }
  return true;
}

// An initializer that is also an input is that input's default; otherwise it is a constant with a
// name of its own.
void define_initializer(Pass& pass, const Inputs& inputs, const std::string& name,
                        const ValueType& type, const Shape& shape, bool needs_input,
                        const std::string& path, const Report& report) {
  const std::string place = "initializer '" + name + "', " + graph_place(path);
  const auto found = inputs.find(name);
  const ValueInfo* input = found == inputs.end() ? nullptr : found->second;
  if (name.empty())
    return report(breach("model/name-empty", "an initializer has no name").with_place(place));
  if (input == nullptr) {
    if (needs_input) {
      report(breach("model/initializer-input", "'" + name + "' is no input").with_place(place));
    }
    return pass.define(name, type, place);
  }
  if ((input->type && !(*input->type == type)) || (input->shape && !fits(shape, *input->shape))) {
    report(breach("model/initializer-type", "'" + name + "' is " + text(type) + text(shape) +
                                                ", unlike the input of that name")
               .with_place(place));
  }
}

void check_input(const ValueInfo& input, bool main, const std::string& path, const Report& report) {
  const std::string place = "input '" + input.name + "', " + graph_place(path);
  if (input.name.empty())
    report(breach("model/name-empty", "an input has no name").with_place(place));
  if (main && !input.type)
    report(breach("model/input-type", "the input has no type").with_place(place));
  if (!input.shape) return;
  for (const Dim& dim : *input.shape) {
    if (!dim.size || *dim.size >= 0) continue;
    report(breach("model/tensor-shape", "a dimension is " + std::to_string(*dim.size))
               .with_place(place));
  }
}

}  // namespace

const std::optional<ValueType>* Names::find(const std::string& name) const {
  for (const Names* names = this; names != nullptr; names = names->outer) {
    if (const auto found = names->defined.find(name); found != names->defined.end())
      return &found->second;
  }
  return nullptr;
}

void check_graph(const Graph& graph, const Names* outer, const DeclaredAttributes* around,
                 const Model& model, const std::string& path, const Report& report) {
  const bool main = outer == nullptr && around == nullptr;
  Pass pass(graph.nodes, outer, around, model, path, report);
  for (const ValueInfo& value : graph.values) pass.declare(value);
  Inputs inputs;
  for (const ValueInfo& input : graph.inputs) {
    inputs.emplace(input.name, &input);
    check_input(input, main, path, report);
    pass.define(input.name, input.type, "input '" + input.name + "', " + graph_place(path));
  }
  const bool needs_input = main && model.ir_version < 4;
  for (const auto& [name, tensor] : graph.initializers) {
    const ValueType type{ValueType::Kind::tensor, tensor.type(), nullptr};
    define_initializer(pass, inputs, name, type, tensor.shape(), needs_input, path, report);
  }
  // A sparse initializer is a compact form of a tensor: its consumers see a dense one.
  for (const auto& [name, sparse] : graph.sparse_initializers) {
    const ValueType type{ValueType::Kind::tensor, sparse.values.type(), nullptr};
    define_initializer(pass, inputs, name, type, sparse.shape, needs_input, path, report);
  }
  pass.walk();
  for (const ValueInfo& output : graph.outputs) pass.close(output);
}

void check_function(const Function& function, const Model& model, const Report& report) {
  const std::string path = operator_name(function.domain, function.name);
  const DeclaredAttributes declared(function);
  Pass pass(function.nodes, nullptr, &declared, model, path, report);
  for (const std::string& input : function.inputs) {
    pass.define(input, std::nullopt, "input '" + input + "', function " + path);
  }
  pass.walk();
  for (const std::string& output : function.outputs)
    pass.close(ValueInfo{output, std::nullopt, std::nullopt});
}

}  // namespace touchstone
