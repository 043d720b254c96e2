// Runs a graph attribute of a node in the middle of a kernel, on a buffer's elements.
#pragma once

#include <memory>
#include <string_view>

#include "reference/kernel.h"

namespace touchstone {

struct NodeGraph {
  const Graph* graph = nullptr;  // null: the node has none
  const RunGraph* run = nullptr;
  std::string_view name;
};

// Finds a graph attribute. Extended precision cannot run it, since only its nodes could bound its
// errors.
template <class C>
NodeGraph graph_of(const C& call, std::string_view name) {
  const auto found = call.node->attributes.find(std::string(name));
  if (found == call.node->attributes.end()) return {nullptr, nullptr, name};
  const Graph* graph = std::get<std::shared_ptr<const Graph>>(found->second.is).get();
  if constexpr (requires { call.run_graph; })
    return {graph, &call.run_graph, name};
  else
    return {graph, nullptr, name};
}

// Returns the graph's result for the elements, passed as a tensor of `type`; the elements
// themselves without a graph.
template <class C>
Array<C> through(const NodeGraph& inner, const View<C>& elements, Type type) {
  Array<C> made(elements.shape);
  const Index size = count(elements.shape);
  if (!inner.graph) {
    std::copy_n(elements.data, size, made.data);
    return made;
  }
  if constexpr (std::is_floating_point_v<C>) {
    if (inner.run && *inner.run) {
      Tensor seen(type, elements.shape);
      for (Index k = 0; k < size; ++k) set_number(seen, k, elements.data[k]);
      const std::vector<Value> results = (*inner.run)(*inner.graph, {std::move(seen)});
      if (results.size() != 1 || !results[0].is_tensor() || results[0].tensor().type() != type ||
          !(results[0].tensor().shape() == elements.shape)) {
        throw Error(
            ErrorKind::invalid_model,
            std::string(inner.name) +
                " gives something else than one tensor of the type and shape that it takes");
      }
      for (Index k = 0; k < size; ++k)
        made.data[k] = static_cast<C>(number_at(results[0].tensor(), k));
      return made;
    }
  }
  throw Error(ErrorKind::unsupported,
              std::string(inner.name) + ": a graph has no exact or bounded semantics");
}

}  // namespace touchstone
