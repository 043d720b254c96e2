// The checker: limits first, then every graph and function. Sorts the breaches by severity.
#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_set>

#include "core/budget.h"
#include "model/check_graph.h"
#include "model/derive.h"
#include "model/model.h"
#include "model/place.h"
#include "model/rules.h"
#include "model/scopes.h"

namespace touchstone {
namespace {

// A reader needs no more, and a hostile model can have a breach for every name in it.
constexpr std::size_t max_breaches = 1000;

Index count_nodes(const std::vector<Node>& nodes) {
  Index counted = 0;
  for_each_node(nodes, [&](const Node&) { ++counted; });
  return counted;
}

// Returns the nesting depth of function calls, calls inside called functions included. Stops once
// it exceeds `most`.
int depth_of_calls(const Model& model, int most) {
  std::map<const Function*, int> depths;
  int deepest = 0;
  for (bool changed = true; changed && deepest <= most;) {
    changed = false;
    for (const auto& function : model.functions) {
      int depth = 1;
      for_each_node(function->nodes, [&](const Node& node) {
        if (node.function) depth = std::max(depth, 1 + depths[node.function.get()]);
      });
      if (depth == depths[function.get()]) continue;
      depths[function.get()] = depth;
      deepest = std::max(deepest, depth);
      changed = true;
    }
  }
  return deepest;
}

int depth_of_function(const Function& function) {
  int deepest = 1;
  for (const Node& node : function.nodes) {
    for (const Subgraph& inner : subgraphs_of(node))
      deepest = std::max(deepest, 1 + depth_of(*inner.graph));
  }
  return deepest;
}

void check_limits(const Model& model, const Limits& limits) {
  int depth = depth_of(model.graph);
  Index nodes = count_nodes(model.graph.nodes);
  for (const auto& function : model.functions) {
    depth = std::max(depth, depth_of_function(*function));
    nodes += count_nodes(function->nodes);
  }
  depth = std::max(depth, depth_of_calls(model, limits.graph_depth));
  if (depth > limits.graph_depth) throw over_limit("graph_depth", depth, limits.graph_depth);
  if (nodes > limits.nodes) throw over_limit("nodes", nodes, limits.nodes);
  for (const auto& initializer : model.graph.initializers) {
    const Tensor& tensor = initializer.second;
    placed([&] { return "initializer '" + initializer.first + "', main graph"; },
           [&] { check_size(tensor.type(), tensor.shape(), limits); });
  }
}

}  // namespace

std::vector<Error> check(const Model& model, const Limits& limits) {
  const Budget budget(limits);
  std::vector<Error> errors;
  struct Enough {};
  const Report report = [&](Error error) {
    errors.push_back(std::move(error));
    if (errors.size() == max_breaches) throw Enough{};
  };
  try {
    check_limits(model, limits);
    check_graph(model.graph, nullptr, nullptr, model, "", report);
    for (const auto& function : model.functions) check_function(*function, model, report);
  } catch (const Enough&) {
  } catch (Error& error) {
    // A limit was exceeded: checking on would cost the resources that it protects.
    if (error.kind == ErrorKind::cancelled) throw;
    errors.push_back(std::move(error));
  }
  std::stable_sort(errors.begin(), errors.end(),
                   [](const Error& a, const Error& b) { return severity(a) < severity(b); });
  return errors;
}

void require_valid(Model& model, const Limits& limits) {
  const Budget budget(limits);
  resolve(model);
  std::vector<Error> breaches = check(model, limits);
  if (!breaches.empty()) throw std::move(breaches.front());
  derive(model.graph, limits);
}

namespace {

// Exporters wrote files of version 4 under the number 3. Runtimes accept such files, and their
// meaning is not in doubt.
void read_as_version_4(Model& model) {
  if (model.ir_version >= 4) return;
  std::unordered_set<std::string_view> inputs;
  for (const ValueInfo& input : model.graph.inputs) inputs.insert(input.name);
  const auto is_no_input = [&](const auto& initializer) {
    return !inputs.contains(initializer.first);
  };
  if ((std::ranges::any_of(model.graph.initializers, is_no_input) ||
       std::ranges::any_of(model.graph.sparse_initializers, is_no_input)))
    model.ir_version = 4;
}

}  // namespace

Model load_valid(const std::filesystem::path& file, const Limits& limits) {
  const Budget budget(limits);
  Model model = load_model(file, limits);
  read_as_version_4(model);
  require_valid(model, limits);
  return model;
}

Model parse_valid(std::span<const std::byte> bytes, const Limits& limits) {
  const Budget budget(limits);
  Model model = parse_model(bytes, {}, limits);
  require_valid(model, limits);
  return model;
}

}  // namespace touchstone
