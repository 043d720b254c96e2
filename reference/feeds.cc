// Checks feeds, which are untrusted like the model.
#include "reference/feeds.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <string_view>

#include "model/rules.h"

namespace touchstone {
namespace {

std::string place_of_input(const std::string& name) { return "input '" + name + "', main graph"; }

std::string declared_text(const std::vector<Dim>& dims) {
  std::string list;
  for (const Dim& dim : dims) {
    list += list.empty() ? "" : ",";
    list += dim.size ? std::to_string(*dim.size) : dim.symbol.empty() ? "?" : dim.symbol;
  }
  return "[" + list + "]";
}

struct Symbol {
  Index size;
  std::string input;
};

void check_shape(const ValueInfo& input, const Shape& shape,
                 std::map<std::string, Symbol>& symbols) {
  const std::vector<Dim>& declared = *input.shape;
  bool fits = static_cast<std::size_t>(shape.size()) == declared.size();
  for (std::size_t d = 0; fits && d < declared.size(); ++d) {
    const Index size = shape[static_cast<Index>(d)];
    if (declared[d].size) fits = *declared[d].size == size;
    if (!fits || declared[d].symbol.empty()) continue;
    const auto [at, fresh] = symbols.emplace(declared[d].symbol, Symbol{size, input.name});
    if (fresh || at->second.size == size) continue;
    throw breach("feed/shape", "'" + input.name + "' has shape " + text(shape) + ", so " +
                                   at->first + " is " + std::to_string(size) + ", but '" +
                                   at->second.input + "' says " + std::to_string(at->second.size));
  }
  if (fits) return;
  throw breach("feed/shape", "'" + input.name + "' has shape " + text(shape) +
                                 ", but is declared as " + declared_text(declared));
}

void check_feed(const ValueInfo& input, const Value& value,
                std::map<std::string, Symbol>& symbols) {
  if (value.absent()) throw breach("feed/missing", "'" + input.name + "' is fed without a value");
  const ValueType type = value.type();
  if (input.type && !(type == *input.type)) {
    throw breach("feed/type", "'" + input.name + "' is " + text(type) + ", but is declared as " +
                                  text(*input.type));
  }
  if (value.is_tensor() && input.shape) check_shape(input, value.tensor().shape(), symbols);
}

std::string listed_names(const std::vector<ValueInfo>& inputs) {
  std::string list;
  for (const ValueInfo& input : inputs) list += (list.empty() ? "'" : ", '") + input.name + "'";
  return list.empty() ? "none" : list;
}

// Throws if a feed is no input. Counts the fed inputs first: a search per feed would be quadratic.
template <class Fed>
void check_names(const Graph& graph, const std::map<std::string, Fed>& feeds) {
  const auto count =
      std::count_if(graph.inputs.begin(), graph.inputs.end(),
                    [&](const ValueInfo& input) { return feeds.contains(input.name); });
  if (static_cast<std::size_t>(count) == feeds.size()) return;
  std::set<std::string_view> known;
  for (const ValueInfo& input : graph.inputs) known.insert(input.name);
  for (const auto& [name, fed] : feeds) {
    if (!known.contains(name))
      throw breach("feed/name",
                   "there is no input '" + name + "'; there are " + listed_names(graph.inputs));
  }
}

Index linear(const SparseTensor& sparse, Index k) {
  const Index* indices = sparse.indices.data<Index>();
  if (sparse.indices.shape().size() == 1) return indices[k];
  const Index rank = sparse.shape.size();
  Index at = 0;
  for (Index d = 0; d < rank; ++d) at = at * sparse.shape[d] + indices[k * rank + d];
  return at;
}

}  // namespace

void check_feeds(const Graph& graph, const std::map<std::string, Value>& feeds) {
  check_names(graph, feeds);
  std::map<std::string, Symbol> symbols;
  for (const ValueInfo& input : graph.inputs) {
    placed([&] { return place_of_input(input.name); },
           [&] {
             if (const auto fed = feeds.find(input.name); fed != feeds.end()) {
               check_feed(input, fed->second, symbols);
             } else if (graph.initializers.count(input.name) +
                            graph.sparse_initializers.count(input.name) ==
                        0) {
               throw breach("feed/missing",
                            "the input '" + input.name + "' is not fed and has no default");
             }
           });
  }
}

void check_shapes(const Graph& graph, const std::map<std::string, Shape>& shapes) {
  check_names(graph, shapes);
  std::map<std::string, Symbol> symbols;
  for (const ValueInfo& input : graph.inputs) {
    const auto fed = shapes.find(input.name);
    if (fed == shapes.end() || !input.shape) continue;
    placed([&] { return place_of_input(input.name); },
           [&] { check_shape(input, fed->second, symbols); });
  }
}

void check_value(const Value& value, const Limits& limits) {
  struct Visit {
    const Limits& limits;

    void operator()(std::monostate) const {}
    void operator()(const Tensor& tensor) const {
      const Index rank = tensor.shape().size();
      if (rank > limits.rank_run) throw over_limit("rank_run", rank, limits.rank_run);
      check_size(tensor.type(), tensor.shape(), limits);
    }
    void operator()(const Sequence& sequence) const {
      for (const Value& item : sequence.items) check_value(item, limits);
    }
    void operator()(const Optional& optional) const {
      if (optional.item) check_value(*optional.item, limits);
    }
    void operator()(const Map& map) const {
      for (const auto& [key, item] : map.by_integer) check_value(item, limits);
      for (const auto& [key, item] : map.by_string) check_value(item, limits);
    }
    void operator()(const SparseTensor& sparse) const {
      (*this)(sparse.values);
      (*this)(sparse.indices);
    }
  };
  std::visit(Visit{limits}, value.is);
}

Tensor dense(const SparseTensor& sparse) {
  const Type type = sparse.values.type();
  Tensor whole(type, sparse.shape);
  const Index values = sparse.values.size();
  if (type == Type::string) {
    for (Index k = 0; k < values; ++k) {
      whole.data<std::string>()[linear(sparse, k)] = sparse.values.data<std::string>()[k];
    }
  } else if (is_packed(type)) {
    const std::vector<std::uint8_t> codes = unpack(sparse.values);
    std::vector<std::uint8_t> all(static_cast<std::size_t>(whole.size()));
    for (Index k = 0; k < values; ++k) {
      all[static_cast<std::size_t>(linear(sparse, k))] = codes[static_cast<std::size_t>(k)];
    }
    pack(all, whole);
  } else {
    const Index width = facts(type).bits / 8;
    for (Index k = 0; k < values; ++k) {
      std::memcpy(whole.data<std::byte>() + linear(sparse, k) * width,
                  sparse.values.data<std::byte>() + k * width, static_cast<std::size_t>(width));
    }
  }
  return whole;
}

}  // namespace touchstone
