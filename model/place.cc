// Text forms of places. They are built only when an error or a tap needs them.
#include "model/place.h"

#include "model/model.h"

namespace touchstone {

std::string operator_name(std::string_view domain, std::string_view op) {
  return domain.empty() ? std::string(op) : std::string(domain) + "." + std::string(op);
}

std::string graph_place(std::string_view graph_path) {
  return graph_path.empty() ? "main graph" : "graph " + std::string(graph_path);
}

std::string place_of(const Node& node, std::string_view graph_path) {
  std::string place =
      node.name.empty() ? "node #" + std::to_string(node.index) : "node '" + node.name + "'";
  place += " (" + operator_name(node.domain, node.op) + ")";
  for (const std::string& output : node.outputs) {
    if (output.empty()) continue;
    place += ", output '" + output + "'";
    break;
  }
  return place + ", " + graph_place(graph_path);
}

std::string subgraph_path(std::string_view graph_path, const Node& node,
                          std::string_view attribute) {
  std::string path(graph_path);
  if (!path.empty()) path += "/";
  return path + node.op + "_" + std::to_string(node.index) + "/" + std::string(attribute);
}

}  // namespace touchstone
