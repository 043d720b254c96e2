// Text forms of places in a model, for errors and taps.
#pragma once

#include <string>
#include <string_view>

#include "model/graph.h"

namespace touchstone {

// "Foo" or "com.example.Foo"
std::string operator_name(std::string_view domain, std::string_view op);

// "main graph", or "graph Foo_0/body"
std::string graph_place(std::string_view graph_path);

// Path of a node's subgraph: "Foo_0/body", appended to the path of the graph that holds the node.
std::string subgraph_path(std::string_view graph_path, const Node& node,
                          std::string_view attribute);

}  // namespace touchstone
