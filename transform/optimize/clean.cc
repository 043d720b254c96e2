// Passes that remove unused nodes and constants and merge equal ones.
#include <algorithm>
#include <cstring>
#include <set>
#include <span>
#include <tuple>
#include <type_traits>
#include <unordered_map>

#include "core/budget_watch.h"
#include "model/model.h"
#include "model/scopes.h"
#include "transform/optimize/graph_passes.h"

namespace touchstone::transform {

namespace {

bool same_tensor(const Tensor& a, const Tensor& b) {
  if (a.type() != b.type() || !(a.shape() == b.shape())) return false;
  if (a.type() == Type::string)
    return std::equal(a.data<std::string>(), a.data<std::string>() + a.size(),
                      b.data<std::string>());
  const auto left = a.bytes(), right = b.bytes();
  return left.size() == right.size() &&
         (left.empty() || std::memcmp(left.data(), right.data(), left.size()) == 0);
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::size_t digest(const Tensor& tensor) {
  return std::hash<std::string_view>()(text_of(tensor.bytes()));
}

// Hashes samples of a large tensor only: weights that differ mostly differ there.
std::size_t sample_digest(const Tensor& tensor) {
  constexpr std::size_t places = 16, some = 64;
  const std::string_view all = text_of(tensor.bytes());
  if (all.size() <= places * some) return std::hash<std::string_view>()(all);
  std::string seen;
  for (std::size_t k = 0; k < places; ++k)
    seen += all.substr((all.size() - some) * k / (places - 1), some);
  return std::hash<std::string>()(seen);
}

struct SameAttribute {
  const Attribute::Payload& other;
  bool operator()(float a) const { return std::memcmp(&a, &std::get<float>(other), sizeof a) == 0; }
  bool operator()(Index a) const { return a == std::get<Index>(other); }
  bool operator()(const std::string& a) const { return a == std::get<std::string>(other); }
  bool operator()(const Tensor& a) const { return same_tensor(a, std::get<Tensor>(other)); }
  bool operator()(const std::vector<float>& a) const {
    const auto& b = std::get<std::vector<float>>(other);
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
  }
  bool operator()(const std::vector<Index>& a) const {
    return a == std::get<std::vector<Index>>(other);
  }
  bool operator()(const std::vector<std::string>& a) const {
    return a == std::get<std::vector<std::string>>(other);
  }
  template <class Other>
  bool operator()(const Other&) const {
    return false;  // attributes that hold graphs or types never compare equal
  }
};

bool same_attributes(const Node& a, const Node& b) {
  return std::equal(a.attributes.begin(), a.attributes.end(), b.attributes.begin(),
                    b.attributes.end(), [](const auto& x, const auto& y) {
                      return x.first == y.first && x.second.is.index() == y.second.is.index() &&
                             std::visit(SameAttribute{y.second.is}, x.second.is);
                    });
}

struct AttributeDigest {
  std::size_t operator()(float a) const { return std::hash<float>()(a == 0 ? 1 : a); }
  std::size_t operator()(Index a) const { return std::hash<Index>()(a); }
  std::size_t operator()(const std::string& a) const { return std::hash<std::string>()(a); }
  std::size_t operator()(const Tensor& a) const {
    return a.type() == Type::string ? 0 : sample_digest(a);
  }
  template <class T>
  requires std::is_arithmetic_v<T> std::size_t operator()(const std::vector<T>& a) const {
    return std::hash<std::string_view>()(text_of(std::as_bytes(std::span(a))));
  }
  template <class Other>
  std::size_t operator()(const Other&) const {
    return 0;
  }
};

// Equal nodes have equal keys; few other nodes share one.
std::string key_of(const Node& node) {
  std::string key = node.domain + "\n" + node.op;
  for (const std::string& input : node.inputs) key += "\n" + input;
  for (const auto& [name, attribute] : node.attributes)
    key += "\n" + name + "=" + std::to_string(std::visit(AttributeDigest(), attribute.is));
  return key;
}

// Bound on the comparisons per node. Equal nodes can stay separate if several of them are graph
// outputs.
constexpr std::size_t max_twins = 8;

bool may_share(const Node& node) { return node.signature != nullptr && !draws(node); }

bool replace_outputs(MutableGraph& graph, const Node& twin, const Node& kept) {
  if (twin.outputs.size() > kept.outputs.size()) return false;
  for (std::size_t k = 0; k < twin.outputs.size(); ++k) {
    if (!twin.outputs[k].empty() && (kept.outputs[k].empty() || graph.is_output(twin.outputs[k])))
      return false;
    if (graph.is_captured(twin.outputs[k])) return false;
  }
  for (std::size_t k = 0; k < twin.outputs.size(); ++k) {
    if (!twin.outputs[k].empty()) graph.replace_value(twin.outputs[k], kept.outputs[k]);
  }
  return true;
}

std::set<const Function*> called_functions(MutableGraph& graph) {
  std::set<const Function*> called;
  std::vector<const Function*> open;
  const auto visit = [&](const Node& node) {
    if (node.function && called.insert(node.function.get()).second)
      open.push_back(node.function.get());
  };
  for (const Node& node : graph.nodes()) {
    visit(node);
    for (const Subgraph& inner : subgraphs_of(node)) for_each_node(inner.graph->nodes, visit);
  }
  while (!open.empty()) {
    const Function* function = open.back();
    open.pop_back();
    for_each_node(function->nodes, visit);
  }
  return called;
}

}  // namespace

Index share_constants(MutableGraph& graph) {
  // Groups by cheap facts first: most large constants are unique, and need no full hash.
  using Kind = std::tuple<Type, std::string, std::size_t>;
  std::map<Kind, std::vector<std::string>> alike;
  BudgetWatch watch;
  for (const auto& [name, tensor] : graph.model().graph.initializers) {
    if (tensor.type() == Type::string || graph.is_output(name)) continue;
    alike[{tensor.type(), text(tensor.shape()), sample_digest(tensor)}].push_back(name);
    watch.step();
  }
  Index changes = 0;
  for (const auto& [of_them, names] : alike) {
    if (names.size() == 1) continue;
    std::multimap<std::size_t, std::string> kept;
    for (const std::string& name : names) {
      watch.step();
      const Tensor* tensor = graph.constant(name);
      if (tensor == nullptr) continue;
      const std::size_t key = digest(*tensor);
      const auto [first, last] = kept.equal_range(key);
      const auto twin = std::find_if(first, last, [&](const auto& other) {
        return same_tensor(*graph.constant(other.second), *tensor);
      });
      if (twin == last) {
        kept.emplace(key, name);
      } else if (graph.replace_value(name, twin->second)) {
        graph.drop_constant(name);
        ++changes;
      }
    }
  }
  return changes;
}

Index share_nodes(MutableGraph& graph) {
  std::unordered_map<std::string, std::vector<MutableGraph::Place>> kept;
  Index changes = 0;
  BudgetWatch watch;
  for (auto place = graph.nodes().begin(); place != graph.nodes().end(); watch.step()) {
    const auto here = place++;
    if (!may_share(*here)) continue;
    std::vector<MutableGraph::Place>& alike = kept[key_of(*here)];
    const bool shared = std::any_of(alike.begin(), alike.end(), [&](MutableGraph::Place other) {
      return same_attributes(*other, *here) && replace_outputs(graph, *here, *other);
    });
    if (!shared) {
      if (alike.size() < max_twins) alike.push_back(here);
    } else {
      graph.erase(here);
      ++changes;
    }
  }
  return changes;
}

Index drop_dead(MutableGraph& graph) {
  Index changes = 0;
  BudgetWatch watch;
  for (auto place = graph.nodes().end(); place != graph.nodes().begin(); watch.step()) {
    --place;
    const auto& outputs = place->outputs;
    const bool used = std::any_of(outputs.begin(), outputs.end(), [&](const std::string& output) {
      return !output.empty() && graph.uses(output) > 0;
    });
    if (used) continue;
    place = graph.erase(place);
    ++changes;
  }
  std::vector<std::string> unused;
  for (const auto& [name, tensor] : graph.model().graph.initializers) {
    if (graph.uses(name) == 0 && !graph.is_input(name)) unused.push_back(name);
  }
  for (const std::string& name : unused) graph.drop_constant(name);
  const std::set<const Function*> called = called_functions(graph);
  return changes + static_cast<Index>(unused.size()) + graph.keep_functions(called);
}

Index freeze_defaults(MutableGraph& graph) {
  if (graph.model().ir_version >= 4) return 0;
  std::unordered_set<std::string> names;
  for (const ValueInfo& input : graph.model().graph.inputs) {
    if (graph.model().graph.initializers.contains(input.name)) names.insert(input.name);
  }
  graph.freeze(names);
  if (!names.empty()) graph.raise_ir(4);
  return static_cast<Index>(names.size());
}

}  // namespace touchstone::transform
